#!/usr/bin/env python3
"""Has Prometheus scrape a report over HTTP, the node exporter read it as a text file, and the Pushgateway take it. Each
sample that tests/check_openmetrics.py reads is then asked back from each of them.

Usage: prometheus.py UNPACKED REPORT     UNPACKED has usr/bin/prometheus and others
"""
import contextlib
import http.server
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import check_openmetrics

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
ADDED = {"instance", "job"}
LONGEST = 30  # seconds to wait for a program


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(url, data=None):
    with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=LONGEST) as answer:
        return answer.read().decode()


def at(port, path):
    return "http:" + f"//127.0.0.1:{port}{path}"


def wait_for(condition):
    """Returns what `condition` returns as soon as that is true. Until then, it may raise what a port without a server does."""
    deadline = time.monotonic() + LONGEST
    while True:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            found = condition()
            if found:
                return found
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.05)


@contextlib.contextmanager
def running(log, *command):
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield
    except BaseException:
        with open(log, encoding="utf-8") as output:
            sys.stderr.write(output.read())
        raise
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def served(report):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            with open(report, "rb") as file:
                text = file.read()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def canonical(labels):
    """Programs write the quantiles 0.0 and 1.0 as 0 and 1."""
    return frozenset((name, str(float(value)) if name in ("quantile", "le") else value) for name, value in labels if name not in ADDED)


def compare(who, expected, found):
    for key, value in expected.items():
        assert key in found, (who, key)
        assert math.isclose(found[key], value, rel_tol=1e-12), (who, key, found[key], value)
    print(f"{who}: {len(expected)} samples")


def read_text(text):
    """Samples of the text format, whatever else is in it."""
    found = {}
    for line in text.split("\n"):
        sample = check_openmetrics.SAMPLE.fullmatch(line)
        if sample:
            labels = [(name, check_openmetrics.unescape(value)) for name, value in check_openmetrics.LABEL.findall(sample[2] or "")]
            found[sample[1], canonical(labels)] = float(sample[3])
    return found


def check_promtool(unpacked, report):
    """Names of counters end with _total in samples alone, as OpenMetrics demands, so promtool finds no help for them."""
    with open(report, "rb") as file:
        done = subprocess.run([f"{unpacked}/usr/bin/promtool", "check", "metrics"], stdin=file, capture_output=True, text=True, check=False)
    complaints = [line for line in (done.stdout + done.stderr).strip().split("\n") if not re.fullmatch("zetools_[a-z0-9_]+_total no help text", line)]
    assert done.returncode in (0, 3) and complaints in ([], [""]), (done.returncode, complaints)
    print("promtool: no complaint")


def check_scrape(unpacked, directory, report, expected):
    port = free_port()
    with served(report) as target:
        with open(f"{directory}/prometheus.yml", "w", encoding="utf-8") as file:
            file.write("global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: zetools\n"
                       f"    static_configs: [{{targets: ['127.0.0.1:{target}']}}]\n")
        with running(f"{directory}/prometheus.log", f"{unpacked}/usr/bin/prometheus", f"--config.file={directory}/prometheus.yml",
                     f"--storage.tsdb.path={directory}/data", f"--web.listen-address=127.0.0.1:{port}"):
            def ask(query):
                return json.loads(get(at(port, "/api/v1/query?" + urllib.parse.urlencode({"query": query}))))["data"]["result"]

            def scraped():
                targets = json.loads(get(at(port, "/api/v1/targets")))["data"]["activeTargets"]
                return targets[0] if targets and targets[0]["health"] != "unknown" else None

            state = wait_for(scraped)
            assert state["health"] == "up", state
            found = {}
            for series in wait_for(lambda: ask('{job="zetools"}')):
                labels = dict(series["metric"])
                found[labels.pop("__name__"), canonical(labels.items())] = float(series["value"][1])
    compare("prometheus", expected, found)


def check_text_file(unpacked, directory, report, expected):
    port = free_port()
    os.mkdir(f"{directory}/textfile")
    shutil.copy(report, f"{directory}/textfile/run.prom")
    with running(f"{directory}/node.log", f"{unpacked}/usr/bin/prometheus-node-exporter", "--collector.disable-defaults",
                 "--collector.textfile", f"--collector.textfile.directory={directory}/textfile", f"--web.listen-address=127.0.0.1:{port}"):
        text = wait_for(lambda: get(at(port, "/metrics")))
    found = read_text(text)
    assert found["node_textfile_scrape_error", frozenset()] == 0, text
    compare("node_exporter", expected, found)


def check_push(unpacked, directory, report, expected):
    port = free_port()
    with running(f"{directory}/push.log", f"{unpacked}/usr/bin/prometheus-pushgateway", f"--web.listen-address=127.0.0.1:{port}"):
        wait_for(lambda: get(at(port, "/-/ready")))
        with open(report, "rb") as file:
            get(at(port, "/metrics/job/zetools"), file.read())
        found = read_text(get(at(port, "/metrics")))
    compare("pushgateway", expected, found)


def main():
    unpacked, report = sys.argv[1:]
    expected = {(name, canonical(labels)): value for family in check_openmetrics.parse(report).values()
                for (name, labels), value in family.samples.items()}
    assert any(name == "zetools_region_gpu_time_seconds_count" for name, _ in expected), list(expected)
    check_promtool(unpacked, report)
    with tempfile.TemporaryDirectory() as directory:
        check_scrape(unpacked, directory, report, expected)
        check_text_file(unpacked, directory, report, expected)
        check_push(unpacked, directory, report, expected)


if __name__ == "__main__":
    main()
