"""The commands: one module each, named after its command.

A module has the function of the command, with its options, and `add(app)`, which registers it;
`cbr.cli.app` lists the modules in the order of ``cbr --help``. What a command needs of the engine
is imported when it runs, so that ``cbr --help`` starts quickly.
"""
