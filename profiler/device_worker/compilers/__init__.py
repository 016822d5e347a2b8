"""What each vendor's compiler tells of a built program, and how it is asked. One file a vendor."""
