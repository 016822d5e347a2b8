"""The symbolic execution of a kernel's source: its state, and the expressions that it reads.

Functions take an `ExecutionState` first. They call each other downwards only; what may hold anything (an expression,
a statement) is read by `dispatch`, whose tables `model.work.analyse` puts together. May import what lies beside this
folder, not `control_flow`.
"""
