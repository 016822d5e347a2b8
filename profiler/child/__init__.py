"""What runs inside the device process. Only modules in here import pyopencl and numpy; nothing else imports them."""
