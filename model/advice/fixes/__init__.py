"""Quick fixes: what applies a piece of advice to the source text; one idea per file.

Each is a pure function from a kernel's source and launch to text edits that leave everything else byte for byte. A fix
is proposed where it is sound, or where `promise` says what must hold; what it gains is for the prediction of the edited
text to tell. May import the rest of `model`; knows no editor.
"""
