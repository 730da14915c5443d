"""Commands of keys, buttons and menus: functions on the application, by subject.

The table `app.window.actions` says which keys and menus call them.
"""
