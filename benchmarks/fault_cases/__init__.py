"""What happens to data when processes are killed, files are damaged and input is absurd."""
