"""A Jupyter Server extension that sends what a kernel says at once.

Without it the second of two small messages waits up to 40 ms for the browser's acknowledgement of the
first (Nagle's algorithm against delayed acknowledgements). A slider's answer is such a second message.
"""

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

SETTING = "kernel_websocket_connection_class"


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Jupyter Server's own connection, without Nagle's algorithm."""

    def connect(self):
        self.websocket_handler.set_nodelay(True)
        return super().connect()


def _load_jupyter_server_extension(server):
    """Take the place of the default connection; one that somebody chose, a gateway's for instance, is left alone."""
    if server.web_app.settings.get(SETTING) is ZMQChannelsWebsocketConnection:
        server.web_app.settings[SETTING] = PromptConnection
