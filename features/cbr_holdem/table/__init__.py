"""The rules of the table, for many tables at once and for one."""
