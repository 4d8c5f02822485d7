// Event streams in pieces of every size, and the limits.
#include "emitter/sse.h"

#include <gtest/gtest.h>

#include <vector>

#include "emitter/elements.h"
#include "emitter/receptor_link.h"

namespace fairlead::emitter {
namespace {

struct Row {
    const char* name;
    std::string text;
    std::vector<SseEvent> events;
};
class Sse : public testing::TestWithParam<Row> {};

TEST_P(Sse, IsReadInPiecesOfAnySize) {
    for (std::size_t size = 1; size <= GetParam().text.size(); ++size) {
        SseParser parser(1'000);
        std::vector<SseEvent> events;
        for (std::size_t at = 0; at < GetParam().text.size(); at += size) {
            ASSERT_TRUE(parser.add(std::string_view(GetParam().text).substr(at, size),
                                   [&events](SseEvent event) { events.push_back(std::move(event)); }));
        }
        EXPECT_EQ(events, GetParam().events) << "pieces of " << size;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Streams, Sse,
    testing::Values(
        Row{"Receptor", "id: 7\nevent: actual_lrp_created\ndata: {}\n\n", {{"7", "actual_lrp_created", "{}"}}},
        Row{"CarriageReturns", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\r", {{"", "a", "1"}, {"", "message", "2"}}},
        Row{"ManyLines", "data: 1\ndata\ndata:2\n\n", {{"", "message", "1\n\n2"}}},
        Row{"HeartbeatWithId", ": heartbeat\nid: 9\n\ndata: x\n\n", {{"9", "message", "x"}}},
        Row{"MarkAndUnknown",
            "\xEF\xBB\xBF"
            "retry: 5\nfoo: bar\ndata: x\n\n",
            {{"", "message", "x"}}},
        Row{"NoEnd", "data: x\n", {}}),
    [](const auto& row) { return row.param.name; });

TEST(SseLimits, EndTheStream) {
    const auto ignore = [](const SseEvent&) {};
    SseParser line(10);
    EXPECT_FALSE(line.add("data: 123456789", ignore));
    EXPECT_FALSE(line.add("\n\ndata: x\n\n", ignore)) << "nothing after it is read";
    SseParser event(10);
    EXPECT_TRUE(event.add("data: 1234\n", ignore));
    EXPECT_FALSE(event.add("data: 1234\ndata: 1234\n", ignore));
}

TEST(Elements, AreTakenOneByOneFromPiecesOfAnySize) {
    const auto read = [](std::string_view text, std::size_t size) -> std::string {
        std::string all;
        Elements elements(100);
        for (std::size_t at = 0; at < text.size(); at += size) {
            const auto done = elements.add(text.substr(at, size),
                                           [&all](std::string_view element) { all += std::string(element) + ";"; });
            if (!done) return "error: " + done.error().text();
        }
        const auto done = elements.end();
        return done ? all : "error: " + done.error().text();
    };
    for (std::size_t size = 1; size < 30; ++size) {
        EXPECT_EQ(read(" [ ] ", size), "");
        EXPECT_EQ(read(R"([{"a":[1,2]}, "x]\",", "\\", 3])", size), R"({"a":[1,2]};"x]\",";"\\";3;)") << size;
        for (const auto* wrong : {"", " ", "{}", "null", "[", "[1", "[1,", "[1,]", "[,1]", "[1]x", "[\"a]", "[}]"}) {
            EXPECT_TRUE(read(wrong, size).starts_with("error: ")) << wrong << " gives " << read(wrong, size);
        }
        const auto lengthy = "[\"" + std::string(200, 'x') + "\"]";
        if (size >= 20) continue;
        EXPECT_EQ(read(lengthy, size), "error: an element has more than 100 bytes");
    }
}

TEST(ReceptorUrl, IsTakenApart) {
    const auto plain = parse_receptor_url("--receptor", "http://10.0.0.7:8887/");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->url, "http://10.0.0.7:8887");
    EXPECT_EQ(plain->authorization, "");
    const auto with = parse_receptor_url("--receptor", "https://us%40er:p%3Aw@receptor.test");
    ASSERT_TRUE(with);
    EXPECT_EQ(with->url, "https://receptor.test");
    EXPECT_EQ(with->authorization, "Basic dXNAZXI6cDp3");
    for (const auto* wrong : {"", "receptor.test", "ftp://x", "http://", "http://u:p@", "https://x?y", "http://:80"}) {
        const auto read = parse_receptor_url("--receptor", wrong);
        ASSERT_FALSE(read) << wrong;
        EXPECT_EQ(read.error().field, "--receptor");
    }
    const auto secret = parse_receptor_url("--receptor", "https://u:secret@x?y");
    EXPECT_EQ(secret.error().text().find("secret"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::emitter
