"""An MCP server over HTTP that behaves as a test says: http_server.py HOW [TOKEN]. Prints its port.

`house` speaks as Home Assistant's /api/mcp does (homeassistant/components/mcp_server): a POST is answered with JSON in the same response, no session,
no stream of its own (GET is 405), 401 without a long-lived token; tools are those of its Assist API, of exposed entities alone.
"""
import http.server
import json
import sys
import threading
import time

how = sys.argv[1]
token = sys.argv[2] if len(sys.argv) > 2 else ""
state = {"session": 0, "calls": 0, "lists": 0, "resumed": 0, "deleted": 0, "cancelled": 0}
change = threading.Event()

HOUSE = [
    {"name": "HassTurnOn", "description": "Turns on/opens a device or entity", "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}, "area": {"type": "string"}, "floor": {"type": "string"}, "domain": {"type": "array", "items": {"type": "string"}}, "device_class": {"type": "array", "items": {"type": "string", "enum": ["outlet", "switch"]}}}}},
    {"name": "HassTurnOff", "description": "Turns off/closes a device or entity", "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
    {"name": "GetLiveContext", "description": "Provides real-time information about the CURRENT state of devices.", "inputSchema": {"type": "object", "properties": {}}},
]
LIVE = "Live Context: An overview of the areas and the devices in this smart home:\n- names: Kitchen light\n  domain: light\n  state: 'off'\n  areas: Kitchen\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, kind=None, body=b"", **headers):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_events(self, **headers):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message, identity=None):
        text = message if isinstance(message, str) else json.dumps(message)
        self.wfile.write((f"id: {identity}\n" if identity else "").encode() + f"event: message\ndata: {text}\n\n".encode())
        self.wfile.flush()

    def allowed(self):
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            self.send(401, "text/plain", b"401: Unauthorized")
            return False
        return True

    def do_GET(self):
        if not self.allowed():
            return
        if how == "resumes" and self.headers.get("Last-Event-ID") == "e1":
            state["resumed"] += 1
            self.begin_events()
            self.event({"jsonrpc": "2.0", "id": state["open"], "result": {"content": [{"type": "text", "text": "taken up"}]}}, "e2")
        elif how == "listens":
            self.begin_events()
            change.wait(20)
            self.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, "l1")
            self.event({"jsonrpc": "2.0", "id": "p", "method": "ping"}, "l2")
            time.sleep(1)
        else:
            self.send(405, "text/plain", b"405: Method Not Allowed")

    def do_DELETE(self):
        state["deleted"] += 1
        self.send(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.allowed():
            return
        if how == "page":
            return self.send(200, "text/html", b"<html>a page</html>")
        if how == "broken":
            return self.send(500, "application/json", b'{"error": {"message": "no room"}}')
        if how == "endless_error":
            self.send_response(500)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return
        request = json.loads(body)
        method = request.get("method")
        if "id" not in request:
            state["cancelled"] += method == "notifications/cancelled"
            return self.send(202)
        if "method" not in request:
            state["ponged"] = True
            return self.send(202)
        with_session = how in ("forgets", "resumes", "listens", "counts")
        if with_session and method != "initialize" and self.headers.get("Mcp-Session-Id") != f"s{state['session']}":
            return self.send(404, "application/json", b'{"error": {"message": "no such session"}}')
        if method != "initialize" and self.headers.get("MCP-Protocol-Version") != "2025-06-18":
            return self.send(400, "text/plain", b"a header is missing")
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        headers = {}
        if method == "initialize":
            state["session"] += 1
            answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": False}}, "serverInfo": {"name": "home-assistant", "version": "1"}}
            headers = {"Mcp_Session_Id": f"s{state['session']}"} if with_session else {}
        elif method == "tools/list":
            state["lists"] += 1
            tools = HOUSE if how == "house" else [{"name": "act", "inputSchema": {"type": "object"}}]
            answer["result"] = {"tools": tools + ([{"name": "later"}] if change.is_set() else [])}
        elif method == "tools/call":
            return self.call(request, answer)
        self.send(200, "application/json", json.dumps(answer).encode(), **headers)

    def call(self, request, answer):
        name = request["params"]["name"]
        state["calls"] += 1
        text = {"GetLiveContext": json.dumps({"success": True, "result": LIVE}), "HassTurnOn": json.dumps({"speech": {}, "response_type": "action_done", "data": {"success": [{"name": "Kitchen light", "type": "entity", "id": "light.kitchen"}]}})}.get(name, "ok")
        answer["result"] = {"content": [{"type": "text", "text": text}], "isError": name == "HassTurnOff"}
        if how == "forgets" and state["session"] == 1:
            state["session"] = 2
            return self.send(404, "application/json", b'{"error": {"message": "no such session"}}')
        if how == "listens":
            change.set()
        if how == "resumes":
            state["open"] = request["id"]
            self.begin_events()
            self.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}, "e1")
        elif how == "events":
            self.begin_events()
            self.wfile.write(b": a comment\r\nretry: 10\r\n\r\n")
            self.event("not json")
            self.event({"jsonrpc": "2.0", "id": "q", "method": "ping"})
            self.event(answer)
            time.sleep(600)  # the answer is there: nobody waits for the end
        elif how == "cut":
            self.begin_events()
        elif how == "dribbles":
            self.begin_events()
            try:
                while True:
                    self.wfile.write(b": still here\n")
                    self.wfile.flush()
                    time.sleep(0.02)
            except OSError:
                return
        elif how == "flood":
            self.begin_events()
            try:
                while True:
                    self.wfile.write(b"data: " + b"x" * 65536)
            except OSError:
                return
        elif how == "long_line":
            return self.send(200, "application/json", b'"' + b"x" * (9 << 20) + b'"')
        elif how == "closes":
            self.close_connection = True
            self.connection.close()
        elif how == "silent":
            time.sleep(600)
        elif how == "counts":
            answer["result"]["content"][0]["text"] = json.dumps(state)
            self.send(200, "application/json", json.dumps(answer).encode())
        else:
            self.send(200, "application/json", json.dumps(answer).encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()  # until who started it goes
