"""What a kernel is given: buffers and images, what stands in them, where they lie, and how much memory there is."""
