"""The compiled kernel that finds equal documents."""
