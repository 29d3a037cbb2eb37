#!/usr/bin/env python3
"""Uses the page of `mynah serve` in Chromium as somebody would: files, the microphone (which plays a real recording), a voice; and
lets a page of another origin try to.

usage: page.py MYNAH MYNAH_SHARED MYNAH_WEIGHTS SCREENSHOTS
"""
import base64
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from serving import CHAT_MODEL, Server, free_port, run_checks

CLIP = "speech/clips/azure_en-US_training_audio2.flac"
SAID = "custom speech provides tools"
PATIENCE_S = 60


class Browser:
    """Chromium by its driver (W3C WebDriver)."""

    ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

    def __init__(self, microphone, window=(1100, 900), phone=None):
        port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={window[0]},{window[1]}", "--autoplay-policy=no-user-gesture-required"]
        arguments += ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", f"--use-file-for-fake-audio-capture={microphone}"]
        options = {"args": arguments}
        if phone:
            options["mobileEmulation"] = phone
        # Whoever opens a page by --lan compares the certificate's fingerprint and goes on.
        wanted = {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True, "goog:chromeOptions": options}}}
        self.base += f"/session/{self.until(lambda: self.ask('POST', '/session', wanted))['sessionId']}"

    @staticmethod
    def until(look):
        """What `look` gives once it gives something and does not fail."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                if found := look():
                    return found
            except (AssertionError, urllib.error.URLError, ConnectionError):
                if time.monotonic() > end:
                    raise
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.1)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)["value"]

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    def run(self, script):
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def run_async(self, script):
        return self.ask("POST", "/execute/async", {"script": script, "args": []})

    def find(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[self.ELEMENT]

    def click(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def text(self, selector):
        return self.run(f"return document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def errors(self):
        """What the browser complains of, such as what the page's policy forbids."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def close(self):
        self.ask("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


class Checks:
    def __init__(self, browser, server, clip, folder):
        self.browser, self.server, self.address, self.clip, self.folder = browser, server, server.address, clip, folder

    def said(self, selector):
        return re.sub(r"[^a-z ]", "", self.browser.text(selector).lower())

    def check_1_file_becomes_text(self):
        self.browser.open(self.address)
        self.browser.type("#files", self.clip)
        self.browser.until(lambda: SAID in self.said("#heard .text"))
        self.browser.until(lambda: "stt=cpu" in self.browser.text("#heard .state"))
        assert self.browser.run("return document.querySelectorAll('#heard .word').length") > 60
        # A click on a word plays it.
        self.browser.run("document.querySelectorAll('#heard .word')[20].click()")
        wanted = float(self.browser.run("return document.querySelectorAll('#heard .word')[20].dataset.start"))
        self.browser.until(lambda: self.browser.run("return document.querySelector('#heard audio').currentTime") >= wanted)
        names = self.browser.run("return [...document.querySelectorAll('#heard .downloads a')].map((link) => link.download)")
        assert [name.rsplit(".", 1)[1] for name in names] == ["txt", "srt", "vtt"], names
        subtitles = self.browser.run_async(
            "const done = arguments[0]; fetch(document.querySelectorAll('#heard .downloads a')[1].href)"
            ".then((answer) => answer.text()).then(done, (error) => done('' + error))"
        )
        # The page's policy lets it fetch from the server alone: what it made itself is for the user to keep.
        assert "Failed to fetch" in subtitles or re.match(r"1\n00:00:0\d,\d{3} --> ", subtitles), subtitles
        self.browser.screenshot(f"{self.folder}/hear.png")

    def check_2_microphone_becomes_text(self):
        self.browser.open(self.address)
        self.browser.click("#record")
        self.browser.until(lambda: self.browser.text("#record") == "Stop")
        time.sleep(6)
        self.browser.click("#record")
        self.browser.until(lambda: len(self.said("#heard .text").split()) > 3)
        assert "provides tools" in self.said("#heard .text"), self.said("#heard .text")

    def check_3_text_is_spoken(self):
        self.browser.open(f"{self.address}#speak")
        self.browser.until(lambda: self.browser.run("return document.querySelectorAll('#voice option').length") > 2)
        self.browser.type("#text", "The train leaves at nine.")
        self.browser.click("#speak-form button")
        self.browser.until(lambda: "tts=cpu" in self.browser.text("#spoken .state"))
        self.browser.until(lambda: self.browser.run("return document.querySelector('#spoken audio').duration || 0") > 1)
        self.browser.screenshot(f"{self.folder}/speak.png")

    def check_7_no_wrong_word(self):
        self.browser.open(f"{self.address}#here")
        self.browser.until(lambda: "builtin" in self.browser.text("#models"))
        writes = self.browser.run("return [...document.querySelectorAll('#models li')].find((item) => item.textContent.includes('(writes)'))?.textContent ?? ''")
        assert writes.startswith(os.path.basename(CHAT_MODEL).removesuffix(".gguf")), writes
        refused = [told for told in self.browser.errors() if "Content Security Policy" in told and "blob:" not in told]
        assert not refused, refused

    def check_3b_a_model_replies(self):
        self.browser.open(f"{self.address}#chat")
        self.browser.until(lambda: self.browser.run("return document.querySelectorAll('#chat-model option').length") == 1)
        self.browser.type("#message", "What is the capital of France? Answer in one sentence.")
        self.browser.click("#send")
        self.browser.until(lambda: not self.browser.run("return document.querySelector('#send').disabled"))
        assert "Paris" in self.browser.run("return document.querySelectorAll('#said .text')[1].textContent")
        told = self.browser.run("return document.querySelectorAll('#said .state')[1].textContent")
        assert told.startswith("llm=cpu"), told
        # One that is stopped is kept as far as it came.
        self.browser.type("#message", "Tell me a very long story of a fox.")
        self.browser.click("#send")
        self.browser.until(lambda: len(self.browser.run("return document.querySelectorAll('#said .text')[3].textContent")) > 20)
        self.browser.click("#stop")
        self.browser.until(lambda: self.browser.run("return document.querySelectorAll('#said .state')[3].textContent") == "stopped")
        assert self.browser.run("return document.querySelector('#stop').offsetParent === null"), "it is shown while there is something to stop"
        self.browser.screenshot(f"{self.folder}/chat.png")
        self.browser.click("#new-chat")
        assert not self.browser.text("#said")

    def ask_by_hand(self):
        """Asks something on the page, and keeps how what it is answered goes on: by what no small model writes."""
        headers = json.dumps({"X-Mynah-Model": "thinker", "X-Mynah-Device": "llm=cpu"})
        self.browser.run(
            "const body = new ReadableStream({start: (reply) => { window.reply = reply; }});"
            f"window.fetch = async () => new Response(body, {{headers: {headers}}});"
            "document.querySelector('#message').value = 'first\\nsecond'; document.querySelector('#send').click()"
        )
        assert not self.browser.run("return document.querySelector('#stop').hidden")

    def go_on(self, *parts):
        told = "".join(f"data: {json.dumps(part if 'error' in part else {'choices': [{'index': 0, 'delta': part}]})}\n\n" for part in parts)
        self.browser.run(f"reply.enqueue(new TextEncoder().encode({json.dumps(told)}))")

    def end(self):
        self.browser.run("reply.close()")
        self.browser.until(lambda: self.browser.run("return document.querySelector('#stop').hidden"))

    def check_3c_what_a_reply_looks_like(self):
        self.browser.open(f"{self.address}#chat")
        self.browser.until(lambda: self.browser.run("return document.querySelectorAll('#chat-model option').length") == 1)
        self.ask_by_hand()
        self.go_on({"reasoning_content": "Who\n"}, {"reasoning_content": "asks?"})
        thought = "const thought = document.querySelectorAll('#said .thought')[1]; return [thought.hidden, thought.open, thought.innerText, thought.textContent.includes('Who\\nasks?')]"
        self.browser.until(lambda: self.browser.run(thought) == [False, False, "Thinking", True])
        self.go_on({"content": "One.\n\n"}, {"content": "  Two."})
        self.end()
        assert self.browser.run(thought) == [False, False, "Thought", True], self.browser.run(thought)
        shown = self.browser.run("return [...document.querySelectorAll('#said .text')].map((text) => text.innerText)")
        assert shown == ["first\nsecond", "One.\n\n  Two."], f"lines are lines: {shown}"
        # The end of a long one is in sight while it is written, unless somebody reads above it.
        self.ask_by_hand()
        self.go_on(*({"content": f"{line}\n"} for line in range(200)))
        below = "return document.documentElement.scrollHeight - scrollY - innerHeight"
        self.browser.until(lambda: "199" in self.browser.text("#said li:last-child .text") and self.browser.run(below) < 2)
        self.browser.run("scrollTo(0, 0)")
        self.go_on({"content": "The end."})
        self.end()
        assert "The end." in self.browser.text("#said li:last-child .text") and self.browser.run("return scrollY") == 0
        # One that fails says why, and what was asked stands there to be asked again.
        self.ask_by_hand()
        self.go_on({"error": {"message": "There is no room."}})
        self.browser.until(lambda: self.browser.text("#said .wrong") == "There is no room.")
        assert self.browser.run("return document.querySelector('#message').value") == "first\nsecond"

    def check_4_a_job_goes_on_without_the_page(self):
        self.browser.open(self.address)
        self.browser.click("#as-job")
        self.browser.type("#files", self.clip)
        self.browser.until(lambda: self.browser.run("return location.hash") == "#jobs")
        self.browser.open("about:blank")
        self.browser.open(f"{self.address}/#jobs")
        self.browser.until(lambda: self.browser.text("#job-list .state").startswith("done"))
        assert SAID in self.said("#job-list .text"), self.said("#job-list .text")
        assert os.path.basename(self.clip) in self.browser.text("#job-list h3"), "its name is known to this browser"
        self.browser.screenshot(f"{self.folder}/jobs.png")
        self.browser.run("[...document.querySelectorAll('#job-list button')].at(-1).click()")
        self.browser.until(lambda: not self.browser.text("#job-list"))

    def check_5_what_was_heard_stays_in_the_browser(self):
        self.browser.open(self.address)
        self.browser.until(lambda: SAID in self.said("#remembered"))
        self.browser.run("document.querySelector('#history').open = true; document.querySelector('#forget').click()")
        self.browser.until(lambda: not self.browser.text("#remembered"))

    def check_6_a_page_of_another_origin_may_not(self):
        page = b"<!doctype html><title>attack</title>"

        class Attack(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Attack)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        before = len(self.server.log)
        self.browser.open(f"http://localhost:{server.server_port}/")
        for path, body in (("/v1/audio/speech", '{"input": "Hello.", "voice": "alloy"}'), ("/load", "model=builtin")):
            for mode in ("cors", "no-cors"):
                self.browser.run_async(
                    f"const done = arguments[0]; fetch({json.dumps(self.address + path)}, {{method: 'POST', mode: '{mode}', body: {json.dumps(body)}}})"
                    ".then((answer) => done(answer.type + answer.status), (error) => done('' + error))"
                )
        server.shutdown()
        time.sleep(0.5)
        asked = [line for line in self.server.log[before:] if " POST " in line]
        assert len(asked) >= 4 and all(" 403 " in line for line in asked), asked


    def check_8_a_server_that_is_gone(self):
        self.browser.open(f"{self.address}#chat")
        self.browser.until(lambda: self.browser.run("return document.querySelectorAll('#chat-model option').length") == 1)
        assert self.server.stop() == 0
        self.browser.type("#message", "Hello.")
        self.browser.click("#send")
        self.browser.until(lambda: "cannot be reached" in self.browser.text("#said .wrong"))


class TalkChecks:
    """A conversation out loud: the microphone says the same sentence again and again, and pauses for a reply."""

    SPOKEN_S, SILENCE_S = 4.6, 4

    def __init__(self, browser, address, folder):
        self.browser, self.address, self.folder = browser, address, folder

    def turns(self, who):
        script = f"return [...document.querySelectorAll('#talked li')].filter((turn) => turn.querySelector('h3').textContent === '{who}').map((turn) => [turn.querySelector('.text').textContent, turn.querySelector('.state').textContent])"
        return self.browser.run(script)

    def check_1_both_sides_are_heard_and_shown(self):
        self.browser.open(f"{self.address}#talk")
        self.browser.until(lambda: self.browser.run("return document.querySelectorAll('#talk-model option').length") == 1)
        assert self.browser.run("return document.querySelector('#talk-stop').hidden")
        self.browser.run("window.sockets = []; window.WebSocket = class extends WebSocket { constructor(...of) { super(...of); window.sockets.push(this); } };")
        self.browser.click("#talk-begin")
        self.browser.until(lambda: any("speech provides tools" in text.lower() for text, _ in self.turns("You")))
        self.browser.until(lambda: any(text and state for text, state in self.turns("mynah")))
        # What the browser's canceller hears: sound of a peer connection.
        assert self.browser.run("return document.querySelector('#talk-echo').hidden"), "the sound goes past the echo canceller"
        self.browser.screenshot(f"{self.folder}/talk.png")

    def check_2_a_voice_stops_the_reply(self):
        """Sooner or later a reply is longer than the pause; its text ends where the sound did."""
        self.browser.until(lambda: any(state == "interrupted" for _, state in self.turns("mynah")))
        assert len(self.turns("You")) > 1

    def check_3_a_connection_that_is_lost_comes_again(self):
        before = len(self.turns("You"))
        self.browser.run("window.sockets.at(-1).close()")
        self.browser.until(lambda: "trying again" in self.browser.text("#talk-state"))
        self.browser.until(lambda: self.browser.run("return window.sockets.at(-1).readyState") == 1)
        self.browser.until(lambda: len(self.turns("You")) > before)
        self.browser.until(lambda: any(text for text, _ in self.turns("You")[before:]))

    def check_4_it_is_ended_by_the_stop_key_and_the_button(self):
        self.browser.until(lambda: self.browser.text("#talk-state") == "speaking")
        self.browser.click("#talk-stop")
        assert self.browser.text("#talk-state") != "speaking"
        self.browser.click("#talk-mute")
        self.browser.until(lambda: self.browser.text("#talk-state") == "muted")
        assert self.browser.run("return document.querySelector('#talk-mute').getAttribute('aria-pressed')") == "true"
        self.browser.click("#talk-begin")
        self.browser.until(lambda: self.browser.text("#talk-begin") == "Talk")
        assert self.browser.run("return document.querySelector('#talk-stop').hidden")
        refused = [told for told in self.browser.errors() if "Content Security Policy" in told]
        assert not refused, refused


def talk(server, clip, home, folder):
    microphone = f"{home}/sentence.wav"
    sound = ["-t", str(TalkChecks.SPOKEN_S), "-i", clip, "-af", f"apad=pad_dur={TalkChecks.SILENCE_S}", "-ar", "48000", "-ac", "1", microphone]
    subprocess.run(["ffmpeg", "-loglevel", "error", *sound], check=True)
    browser = Browser(microphone)
    passed, failed = run_checks(TalkChecks(browser, server.address, folder), lambda name: browser.screenshot(f"{folder}/{name}.png"))
    browser.close()
    return passed, failed


class PhoneChecks:
    """A phone that scanned the code of `mynah serve --lan`, by the network's address and not by localhost."""

    PHONE = {"deviceMetrics": {"width": 390, "height": 844, "pixelRatio": 2.0, "touch": True}}

    def __init__(self, browser, link, folder):
        self.browser, self.link, self.folder = browser, link, folder

    def check_1_the_link_has_the_key(self):
        assert not self.link.startswith("https://127."), self.link
        self.browser.open(self.link)
        self.browser.until(lambda: "tiny.en" in self.browser.text("#models") or "builtin" in self.browser.text("#models"))
        assert self.browser.run("return location.href").endswith("/"), "the key is not left in the address"
        assert self.browser.run("return document.getElementById('key-form').hidden")
        width = self.browser.run("return document.documentElement.scrollWidth")
        assert width <= self.PHONE["deviceMetrics"]["width"], f"{width} wide"

    def check_2_microphone_becomes_text(self):
        self.browser.click("#record")
        time.sleep(4)
        self.browser.click("#record")
        self.browser.until(lambda: self.browser.text("#heard .text").strip())
        self.browser.screenshot(f"{self.folder}/phone.png")


def use_phone(program, weights, home, microphone, folder):
    server = Server(program, weights, f"{home}/lan", ["--wyoming-port", "0", "--lan"], {"XDG_CONFIG_HOME": f"{home}/config", "XDG_STATE_HOME": f"{home}/lan-state"})
    Browser.until(lambda: any("#key=" in line for line in server.log))
    link = next(re.search(r"https://\S+#key=\S+", line).group() for line in server.log if "#key=" in line)
    browser = Browser(microphone, phone=PhoneChecks.PHONE)
    passed, failed = run_checks(PhoneChecks(browser, link, folder), lambda name: browser.screenshot(f"{folder}/phone_{name}.png"))
    browser.close()
    return passed, failed + (server.stop() != 0)


def main():
    program, shared, weights, folder = sys.argv[1:]
    if not os.path.isfile(f"{shared}/{CLIP}") or not os.path.isdir(f"{weights}/tiny.en") or not os.path.isfile(f"{weights}/{CHAT_MODEL}"):
        print("no recordings or no weights here")
        return 77
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        spoken = f"{home}/microphone.wav"
        subprocess.run(["ffmpeg", "-loglevel", "error", "-i", f"{shared}/{CLIP}", "-ar", "48000", "-ac", "1", spoken], check=True)
        server = Server(program, weights, home, ["--wyoming-port", "0", "--chat-model", f"{weights}/{CHAT_MODEL}"], {})
        talked = talk(server, f"{shared}/{CLIP}", home, folder)
        browser = Browser(spoken)
        checks = Checks(browser, server, f"{shared}/{CLIP}", folder)
        passed, failed = run_checks(checks, lambda name: browser.screenshot(f"{folder}/{name}.png"))
        browser.close()
        failed += server.stop() != 0
        by_phone = use_phone(program, weights, home, spoken, folder)
        passed, failed = passed + by_phone[0] + talked[0], failed + by_phone[1] + talked[1]
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
