"""What the execution of a source leaves: blocks with operations and accesses, loops, branches; and views of them.

May import `expressions`.
"""
