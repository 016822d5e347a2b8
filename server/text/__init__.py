"""Words for predictions and measurements, the same in editors and terminals. Knows no editor."""
