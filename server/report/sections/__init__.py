"""One module for each part of the page: facts in, markup out, nothing else touched."""
