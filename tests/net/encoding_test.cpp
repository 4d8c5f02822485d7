#include "net/encoding.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace fairlead::net {
namespace {

TEST(Headers, compare_names_without_case_and_keep_order) {
    Headers headers{{"A", "1"}, {"b", "2"}};
    headers.add("a", "3");
    EXPECT_EQ(headers.get("a"), "1");
    EXPECT_TRUE(headers.has("B"));
    EXPECT_FALSE(headers.has("c"));
    EXPECT_EQ(headers.get("c"), "");
    headers.set("A", "4");
    EXPECT_EQ(headers.items(), (std::vector<std::pair<std::string, std::string>>{{"b", "2"}, {"A", "4"}}));
}

TEST(Encoding, head_of_a_body) {
    Response response;
    response.status = 404;
    response.headers = {{"Content-Type", "text/plain"}, {"content-length", "77"}, {"Connection", "upgrade"}};
    response.body = "gone";
    std::string out;
    append_head(out, response, {.close = true, .request_id = "id-1", .date = "D"});
    EXPECT_EQ(out,
              "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nDate: D\r\nX-Request-Id: id-1\r\n"
              "Content-Length: 4\r\nConnection: close\r\n\r\n");
}

TEST(Encoding, head_without_a_body) {
    for (const int status : {204, 304}) {
        Response response;
        response.status = status;
        std::string out;
        append_head(out, response, {.date = "D"});
        EXPECT_EQ(out.find("Content-Length"), std::string::npos) << out;
    }
}

TEST(Encoding, a_value_cannot_start_another_header) {
    Response response;
    response.headers.set("Location", "/a\r\nSet-Cookie: evil");
    std::string out;
    append_head(out, response, {.date = "D"});
    EXPECT_EQ(out.find("\r\nSet-Cookie"), std::string::npos) << out;
}

TEST(Encoding, chunks_are_framed_in_place) {
    for (const auto& [size, head] : std::vector<std::pair<std::size_t, std::string>>{
             {1, "1\r\n"}, {15, "f\r\n"}, {16, "10\r\n"}, {70'000, "11170\r\n"}}) {
        std::string buffer(chunk_prefix_bytes, ' ');
        buffer.append(size, 'x');
        const auto start = frame_chunk(buffer);
        EXPECT_EQ(buffer.substr(start), head + std::string(size, 'x') + "\r\n");
    }
}

TEST(Encoding, accept_encoding) {
    for (const auto& [header, wanted] : std::vector<std::pair<std::string, bool>>{{"", false},
                                                                                  {"gzip", true},
                                                                                  {"GZIP", true},
                                                                                  {"deflate, gzip;q=0.5", true},
                                                                                  {"gzip; q=0", false},
                                                                                  {"gzip;q=0.000", false},
                                                                                  {"identity", false},
                                                                                  {"gzipped", false},
                                                                                  {";;,,", false}}) {
        EXPECT_EQ(accepts_gzip(header), wanted) << '"' << header << '"';
    }
}

TEST(Encoding, compresses_only_what_is_allowed_large_and_wanted) {
    struct Row {
        const char* name;
        bool compressible, accepts;
        std::size_t size;
        bool packed, varies;
    };
    for (const auto& row :
         {Row{"wanted", true, true, 1'000, true, true}, Row{"not accepted", true, false, 1'000, false, true},
          Row{"not allowed", false, true, 1'000, false, false}, Row{"small", true, true, 999, false, false}}) {
        Response response;
        response.compressible = row.compressible;
        response.body.assign(row.size, 'a');
        compress(response, 1'000, row.accepts);
        EXPECT_EQ(response.headers.get("Content-Encoding") == "gzip", row.packed) << row.name;
        EXPECT_EQ(response.body.size() < row.size, row.packed) << row.name;
        EXPECT_EQ(response.headers.has("Vary"), row.varies) << row.name;
    }
}

std::string unpacked(const std::string& packed) {
    std::string plain(1'000'000, '\0');
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(plain.data());
    stream.avail_out = static_cast<uInt>(plain.size());
    (void)inflate(&stream, Z_SYNC_FLUSH);
    plain.resize(stream.total_out);
    inflateEnd(&stream);
    return plain;
}

// Gives its parts one by one: an empty one means that there is nothing yet.
class Parts final : public StreamBody {
public:
    explicit Parts(std::vector<std::string> parts) : parts_(std::move(parts)) {}
    void start(std::function<void()> /*wake*/) override {}
    Next pull(std::string& out) override {
        if (next_ == parts_.size()) return Next::end;
        out += parts_[next_];
        return parts_[next_++].empty() ? Next::wait : Next::data;
    }

private:
    std::vector<std::string> parts_;
    std::size_t next_ = 0;
};

TEST(Encoding, compresses_streams_part_by_part) {
    const std::string first(300'000, 'a');
    const std::string second(300'000, 'b');
    Response response;
    response.compressible = true;
    response.stream = std::make_unique<Parts>(std::vector<std::string>{first, "", second});
    compress(response, 1'000, true);
    EXPECT_EQ(response.headers.get("Content-Encoding"), "gzip");
    std::string packed;
    using Next = StreamBody::Next;
    // The first part, and what was kept back of it when the source had no more for now.
    EXPECT_EQ(response.stream->pull(packed), Next::data);
    EXPECT_EQ(response.stream->pull(packed), Next::data);
    EXPECT_TRUE(unpacked(packed) == first) << "nothing is held back while the source waits";
    while (response.stream->pull(packed) != Next::end) continue;
    EXPECT_TRUE(unpacked(packed) == first + second);
    EXPECT_LT(packed.size(), 10'000U);
}

TEST(Encoding, streams_that_may_not_be_compressed_stay_as_they_are) {
    Response response;
    response.stream = std::make_unique<Parts>(std::vector<std::string>{"watch"});
    compress(response, 1, true);
    EXPECT_FALSE(response.headers.has("Content-Encoding"));
    std::string out;
    response.stream->pull(out);
    EXPECT_EQ(out, "watch");
}

}  // namespace
}  // namespace fairlead::net
