"""What a person does by key, button or menu: functions of the application, by subject.

The table `app.window.actions` says which keys and menus call them.
"""
