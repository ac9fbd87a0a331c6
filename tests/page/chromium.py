"""Drives Debian's chromium through its DevTools protocol, over pipes: no package of Python is needed."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--force-color-profile=srgb", "--remote-debugging-pipe"]
KEYS = {"Enter": ("Enter", 13, "\r"), "Tab": ("Tab", 9, ""), "Escape": ("Escape", 27, ""), " ": ("Space", 32, " "),
        "ArrowDown": ("ArrowDown", 40, ""), "ArrowUp": ("ArrowUp", 38, ""), "ArrowLeft": ("ArrowLeft", 37, ""),
        "ArrowRight": ("ArrowRight", 39, ""), "Home": ("Home", 36, ""), "End": ("End", 35, ""),
        "/": ("Slash", 191, "/")}


class Browser:
    """One browser with one page. Collects what the page reports as `problems`, and what it loads as `requests`."""

    def __init__(self, timeout=60):
        program = shutil.which("chromium")
        if not program:
            raise FileNotFoundError("chromium is missing. On Debian: apt-get install chromium")
        self.timeout = timeout
        self.problems, self.requests, self.events = [], [], []
        self.last_id, self.session, self.received = 0, None, b""
        self.profile = tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True)
        command_read, self.write_end = os.pipe()
        self.read_end, reply_write = os.pipe()
        # The browser reads from 3 and writes to 4, so neither may be among the ends that are moved there.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (command_read, reply_write)]

        def place_ends():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, "--user-data-dir=" + self.profile.name, "about:blank"], preexec_fn=place_ends,
            pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (command_read, reply_write, *ends):
            os.close(end)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.write_end)
        os.close(self.read_end)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("chromium does not answer")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise EOFError("chromium has ended")
            self.received += data
        message, self.received = self.received.split(b"\0", 1)
        message = json.loads(message)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.problems.append("console: " + str([argument.get("value") for argument in parameters["args"]]))
        elif method == "Log.entryAdded":
            self.problems.append("log: " + parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method:
            self.events.append(method)
        return message

    def call(self, method, **parameters):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while True:
            reply = self.receive(deadline)
            if reply.get("id") == self.last_id:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                return reply["result"]

    def open(self, path):
        self.problems.clear()
        self.requests.clear()
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + self.timeout
        while "Page.loadEventFired" not in self.events:
            self.receive(deadline)

    def run(self, expression):
        """Returns the value of an expression of JavaScript."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(reply["exceptionDetails"]["exception"].get("description"))
        return reply["result"].get("value")

    def key(self, name):
        code, number, text = KEYS.get(name, ("", 0, name))
        event = {"key": name, "code": code, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        for letter in text:
            self.key(letter)

    def look(self, width, height=900, scheme="light", media=""):
        """Sets the size of the window, the colour scheme, and screen or print."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
