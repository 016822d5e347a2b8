"""A few charts, written as inline SVG: axes, ticks, curves with bands, points with bars, labels that do not overlap.

They are ours and no plotting library's because the page must follow the editor's theme through CSS variables, run no
script, stay a few kilobytes, and never load anything heavy into the server. All of it is pure: values in, markup out.
"""
