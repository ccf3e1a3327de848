"""The server extension that keeps answers from waiting for one another."""

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

from course.live import websocket


class Server:
    def __init__(self, connection):
        self.web_app = type("App", (), {"settings": {websocket.SETTING: connection}})


def test_it_takes_the_place_of_the_default_connection():
    server = Server(ZMQChannelsWebsocketConnection)
    websocket._load_jupyter_server_extension(server)
    assert server.web_app.settings[websocket.SETTING] is websocket.PromptConnection


def test_a_connection_that_somebody_chose_is_left_alone():
    class Gateway:
        pass

    server = Server(Gateway)
    websocket._load_jupyter_server_extension(server)
    assert server.web_app.settings[websocket.SETTING] is Gateway


def test_jupyter_server_loads_it(open_notebook, lab):
    open_notebook(["1"])
    log = (lab.root.parent / "server.log").read_text()
    assert "course.live | extension was successfully loaded." in log
