"""What is said of predictions and measurements, alike in editors and terminals: no editor is known here."""
