#!/usr/bin/env python3
"""Each rule of tidy.py is shown to fire on a planted breach, and to stay quiet on the right form."""

import unittest

from tidy import check_messages, check_text


class Rules(unittest.TestCase):
    def fires(self, path, text, message):
        self.assertTrue(any(message in problem for problem in check_text(path, text)), list(check_text(path, text)))

    def quiet(self, path, text):
        self.assertEqual([], list(check_text(path, text)))

    def test_layers(self):
        self.fires("src/store/a.cpp", '#include "json/value.h"\n', "store must not know json")
        self.quiet("src/apiserver/a.cpp", '#include "json/value.h"\n')

    def test_homes(self):
        self.fires("src/apiserver/a.cpp", "#include <boost/asio/ip/tcp.hpp>\n", "has its home")
        self.fires("src/store/a.cpp", "#include <boost/json/value.hpp>\n", "has its home")
        self.quiet("src/net/a.cpp", "#include <boost/asio/ip/tcp.hpp>\n")

    def test_banned(self):
        self.fires("src/store/a.cpp", "auto t = std::chrono::system_clock::now();\n", "Clock")
        self.fires("src/cli/a.cpp", 'throw std::runtime_error("x");\n', "fail()")
        self.fires("src/cli/a.cpp", "int n = std::stoi(text);\n", "parse_int")
        self.quiet("src/store/a.cpp", "// system_clock::now() is banned\nconst char* s = \"throw\";\n")

    def test_coroutines(self):
        self.fires("src/apiserver/a.cpp", "co_await wait();\n", "only in src/net")
        self.fires("src/net/a.cpp", "auto x = f(co_await a(), co_await b());\n", "one co_await")
        self.fires("src/net/a.cpp", "co_await put(Options{.timeout = 2});\n", "before the co_await")
        self.fires("src/net/a.cpp", "co_await put([&](int n) { use(n); });\n", "before the co_await")
        self.quiet("src/net/a.cpp", "const Options options{.timeout = 2};\nauto x = co_await put(options);\n")

    def test_messages(self):
        for text in ('log_.warn("disk is full", {});', 'context_.log().error(\n    "disk "\n    "is full");', 'log.warn("disk is full");'):
            self.assertEqual(1, len(list(check_messages("src/a.cpp", text, "| `disk is slow` |"))), text)
            self.assertEqual([], list(check_messages("src/a.cpp", text, "| `disk is full`, `x` |")), text)
        self.assertEqual([], list(check_messages("src/a.cpp", 'log_.info("x"); return fail(log.error());', "")))

    def test_length(self):
        self.fires("src/net/a.cpp", "int x;\n" * 651, "second subject")


if __name__ == "__main__":
    unittest.main()
