#include "net/request_parser.h"

#include <gtest/gtest.h>

namespace fairlead::net {
namespace {

constexpr ParserLimits limits{.header_bytes = 1'000, .body_bytes = 100};

struct Row {
    const char* name;
    std::string bytes;
    int status;                // 0: complete
    const char* message = "";  // is in the failure's message

    friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};

std::string with_headers(std::string_view headers) {
    return "GET /a HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n";
}

const std::vector<Row>& rows() {
    static const std::vector<Row> table{
        {"plain_get", with_headers(""), 0},
        {"empty_lines_first", "\r\n\r\n" + with_headers(""), 0},
        {"http_1_0_without_host", "GET / HTTP/1.0\r\n\r\n", 0},
        {"body", with_headers("Content-Length: 3\r\n") + "abc", 0},
        {"same_length_twice", with_headers("Content-Length: 3\r\nContent-Length: 3\r\n") + "abc", 0},
        {"chunked", with_headers("Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\n\r\n", 0},
        {"garbage", "\x16\x03\x01\x02\x03garbage\r\n\r\n", 400, "HTTP/1.1"},
        {"no_target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"no_version", "GET /\r\nHost: x\r\n\r\n", 400},
        {"version_2", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 400},
        {"space_in_target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"control_in_target", "GET /a\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"bad_method", "G=T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"bare_line_feed", "GET / HTTP/1.1\nHost: x\n\n\r\n\r\n", 400},
        {"no_host", "GET / HTTP/1.1\r\n\r\n", 400, "0 Host headers"},
        {"two_hosts", with_headers("Host: y\r\n"), 400, "2 Host headers"},
        {"space_before_colon", with_headers("A : b\r\n"), 400},
        {"no_colon", with_headers("nothing\r\n"), 400},
        {"control_in_value", with_headers("A: b\x01\r\n"), 400},
        {"length_not_a_number", with_headers("Content-Length: x\r\n"), 400},
        {"length_negative", with_headers("Content-Length: -1\r\n"), 400},
        {"length_too_long_for_64_bits", with_headers("Content-Length: 99999999999999999999\r\n"), 400},
        {"lengths_differ", with_headers("Content-Length: 1\r\nContent-Length: 2\r\n") + "ab", 400},
        {"length_and_chunked", with_headers("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
        {"chunked_and_length", with_headers("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), 400},
        {"unknown_encoding", with_headers("Transfer-Encoding: gzip\r\n"), 501, "gzip"},
        {"chunked_not_last", with_headers("Transfer-Encoding: chunked, gzip\r\n"), 501},
        {"chunked_http_1_0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
        {"chunk_size_not_hex", with_headers("Transfer-Encoding: chunked\r\n") + "zzzz\r\n", 400},
        {"chunk_without_line_end", with_headers("Transfer-Encoding: chunked\r\n") + "3\r\nabcdef\r\n", 400},
        {"other_expectation", with_headers("Expect: magic\r\n"), 417, "magic"},
        {"length_over_limit", with_headers("Content-Length: 101\r\n"), 413, "100 bytes"},
        {"chunk_over_limit", with_headers("Transfer-Encoding: chunked\r\n") + "65\r\nab", 413},
        {"chunks_over_limit",
         with_headers("Transfer-Encoding: chunked\r\n") + "32\r\n" + std::string(50, 'a') + "\r\n33\r\n", 413},
        {"target_over_limit", "GET /" + std::string(2'000, 'a'), 414, "1000 bytes"},
        {"header_over_limit", with_headers("A: " + std::string(2'000, 'a') + "\r\n"), 431},
        {"many_headers_over_limit",
         [] {
             std::string many;
             for (int i = 0; i < 200; ++i) many += "A: b\r\n";
             return with_headers(many);
         }(),
         431},
        {"chunk_extension_over_limit", with_headers("Transfer-Encoding: chunked\r\n") + "3;" + std::string(2'000, 'a'),
         431},
        {"trailer_over_limit", with_headers("Transfer-Encoding: chunked\r\n") + "0\r\nA: " + std::string(2'000, 'a'),
         431},
    };
    return table;
}

class RequestParserTable : public testing::TestWithParam<Row> {};

void expect_outcome(const RequestParser& parser, const Row& row) {
    if (row.status == 0) {
        EXPECT_EQ(parser.state(), RequestParser::State::complete) << parser.failure().message;
        return;
    }
    ASSERT_EQ(parser.state(), RequestParser::State::failed);
    EXPECT_EQ(parser.failure().status, row.status) << parser.failure().message;
    EXPECT_NE(parser.failure().message.find(row.message), std::string::npos) << parser.failure().message;
}

TEST_P(RequestParserTable, at_once) {
    RequestParser parser(limits);
    parser.feed(GetParam().bytes);
    expect_outcome(parser, GetParam());
}

TEST_P(RequestParserTable, byte_by_byte) {
    RequestParser parser(limits);
    std::string waiting;
    for (const char byte : GetParam().bytes) {
        waiting += byte;
        waiting.erase(0, parser.feed(waiting));
        ASSERT_LE(waiting.size(), limits.header_bytes + 1);
        if (parser.state() == RequestParser::State::failed) break;
    }
    expect_outcome(parser, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Requests, RequestParserTable, testing::ValuesIn(rows()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(RequestParser, fills_the_request) {
    RequestParser parser(limits);
    const std::string bytes =
        "PATCH /x?y=%20z HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nx-one: 2\r\nContent-Length: 4\r\n\r\nbodyGET";
    EXPECT_EQ(parser.feed(bytes), bytes.size() - 3) << "the next request's bytes are not taken";
    ASSERT_EQ(parser.state(), RequestParser::State::complete);
    EXPECT_TRUE(parser.keep_alive());
    const auto request = parser.take();
    EXPECT_EQ(request.method, "PATCH");
    EXPECT_EQ(request.target, "/x?y=%20z");
    EXPECT_EQ(request.body, "body");
    EXPECT_EQ(request.headers.get("X-ONE"), "1");
    EXPECT_EQ(request.headers.items().size(), 4U);
}

TEST(RequestParser, joins_chunks_and_drops_trailers) {
    RequestParser parser(limits);
    parser.feed(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;ext=1\r\nab\r\n1\r\nc\r\n0\r\nX-Admin: "
        "yes\r\n\r\n");
    ASSERT_EQ(parser.state(), RequestParser::State::complete);
    const auto request = parser.take();
    EXPECT_EQ(request.body, "abc");
    EXPECT_FALSE(request.headers.has("X-Admin"));
}

TEST(RequestParser, knows_when_the_connection_ends) {
    for (const auto& [bytes, keep] :
         std::vector<std::pair<std::string, bool>>{{with_headers(""), true},
                                                   {with_headers("Connection: close\r\n"), false},
                                                   {with_headers("Connection: keep-alive, Close\r\n"), false},
                                                   {"GET / HTTP/1.0\r\n\r\n", false},
                                                   {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false}}) {
        RequestParser parser(limits);
        parser.feed(bytes);
        EXPECT_EQ(parser.keep_alive(), keep) << bytes;
    }
}

}  // namespace
}  // namespace fairlead::net
