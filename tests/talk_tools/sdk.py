"""The client of tools beside servers that the Model Context Protocol's own SDK makes (tools/requirements-mcp.txt), over both transports.

usage: sdk.py MCP_PROBE, with the Python that has the SDK. MCP_PROBE is the program talk_mcp_probe: it connects to the servers of a file
of tools, lists what is offered, and makes the calls of its arguments.
"""
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

SERVER = pathlib.Path(__file__).parent / "servers/sdk_server.py"
CALLS = [("add", {"a": 2, "b": 40}), ("greet", {}), ("fail", {}), ("slow", {"steps": 5}), ("add", {"a": "no number", "b": 1}), ("grow", {}), ("grown", {})]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def asked(probe, entry, folder):
    """What the probe said of a server: a JSON line a call, and first the names of the tools."""
    tools = pathlib.Path(folder) / "tools.json"
    tools.write_text(json.dumps({"mcpServers": {"sdk": {**entry, "tools": {"*": {"changes": False}}}}}))
    words = [word for name, arguments in CALLS for word in (name, json.dumps(arguments))]
    run = subprocess.run([probe, tools, *words], capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        raise SystemExit(f"{entry}: exit code {run.returncode}: {run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()], run.stderr


def check(lines, told):
    names = {tool["function"]["name"] for tool in lines[0]}
    assert {"add", "greet", "fail", "slow", "sleep", "grow"} <= names, names
    add = next(tool["function"] for tool in lines[0] if tool["function"]["name"] == "add")
    assert add["parameters"]["properties"]["a"]["type"] == "integer" and add["description"] == "Adds two numbers.", add
    texts = [line["text"] for line in lines[1:]]
    assert texts[0] == "42" and texts[1] == "Hello, you, grüß dich!", texts
    assert texts[2].startswith("error: ") and "it is broken" in texts[2], texts[2]
    assert texts[3] == "there" and "5 of 5" in told, (texts[3], told)
    assert texts[4].startswith("error: ") and "a" in texts[4], texts[4]
    assert texts[5:] == ["grown", "new"], texts[5:]


def main():
    probe = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        check(*asked(probe, {"command": sys.executable, "args": ["-B", str(SERVER)]}, folder))
        print("ok: the SDK's server over standard input and output")
        port = free_port()
        server = subprocess.Popen([sys.executable, "-B", SERVER, "http", str(port)], stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                with socket.socket() as probing:
                    if probing.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            check(*asked(probe, {"url": f"http://127.0.0.1:{port}/mcp"}, folder))
            print("ok: the SDK's server over streamable HTTP")
        finally:
            server.kill()
    print("2 passed, 0 failed, 0 skipped")


main()
