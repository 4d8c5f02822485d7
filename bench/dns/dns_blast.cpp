// A load generator for DNS over UDP that costs less per query than the servers it measures, so that on a machine of two
// cores the server is the bottleneck (dnsperf ends near 250,000 queries/s here). Runs of equally long queries go out in
// one send (UDP_SEGMENT), answers are received in batches. On loopback such a run reaches a server that asks for it
// (UDP_GRO) in one piece: as from a forwarder that keeps its port, but unlike resolvers, which use a new port for each
// query. --together 1 with many --sockets sends a packet for each query instead.
//
// Closed loop: --window queries are outstanding, and it never sleeps; give it a core. With --rate it sends so many a
// second instead, and sleeps in between. Prints one line of JSON.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "histogram.h"

namespace {

using bench::Histogram;

constexpr std::size_t batch = 64;
constexpr std::size_t reply_bytes = 4'096;
constexpr std::size_t send_bytes = 65'000;  // of one segmented send

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

struct Options {
    std::string queries;
    unsigned port = 0;
    double seconds = 3, warmup = 0.5;
    std::size_t window = 128, sockets = 4, together = batch;
    std::uint64_t rate = 0;
    std::uint64_t timeout_ms = 1'000;
};

struct Query {
    const char* bytes = nullptr;
    std::size_t size = 0, question_end = 0;
};

// Messages behind their lengths, as over TCP.
std::vector<Query> split(const std::string& file) {
    std::vector<Query> queries;
    const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(file[at])); };
    for (std::size_t at = 0; at + 2 <= file.size();) {
        const auto size = byte(at) << 8 | byte(at + 1);
        std::size_t end = 12;
        while (byte(at + 2 + end) != 0) end += byte(at + 2 + end) + 1;
        queries.push_back({file.data() + at + 2, size, end + 5});
        at += 2 + size;
    }
    return queries;
}

struct Counts {
    std::uint64_t sent = 0, received = 0, lost = 0, stray = 0, wrong = 0, answers = 0, bytes = 0, truncated = 0;
    std::array<std::uint64_t, 16> rcodes{};
    Histogram took;
};

// The id of a query is the number of its slot, and above it how often the slot was used.
struct Slot {
    std::uint64_t sent = 0;
    const Query* query = nullptr;  // null: free
    unsigned uses = 0;
};

class Blast {
public:
    Blast(const Options& options, const std::vector<Query>& queries)
        : options_(options), queries_(queries), per_socket_(options.window / options.sockets) {
        while ((1U << shift_) < per_socket_) ++shift_;
        for (std::size_t i = 0; i < batch; ++i) {
            parts_[i] = {replies_[i].data(), reply_bytes};
            messages_[i].msg_hdr = {};
            messages_[i].msg_hdr.msg_iov = &parts_[i];
            messages_[i].msg_hdr.msg_iovlen = 1;
        }
        for (std::size_t i = 0; i < options.sockets; ++i) lines_.push_back(open());
    }

    void run() {
        const auto begin = now_ns();
        const auto measured_from = begin + static_cast<std::uint64_t>(options_.warmup * 1e9);
        const auto end = measured_from + static_cast<std::uint64_t>(options_.seconds * 1e9);
        started_ = begin;
        bool measuring = false;
        std::uint64_t warm = 0;
        for (now_ = begin; now_ < end;) {
            if (!measuring && now_ >= measured_from) {
                measuring = true;
                warm = counts_.received;
                counts_ = {};
                measured_ = now_;
            }
            bool moved = false;
            for (auto& line : lines_) {
                moved = receive(line) || moved;
                moved = send(line) || moved;
            }
            if (!moved && options_.rate > 0) wait();
            if (now_ - looked_ > options_.timeout_ms * 250'000) expire();
        }
        if (options_.rate > 0) finish();
        print(warm);
    }

private:
    struct Line {
        int socket = -1;
        std::vector<Slot> slots;
        std::vector<std::uint16_t> free;
    };

    Line open() const {
        Line line;
        line.socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        const int bytes = 4 << 20;
        (void)setsockopt(line.socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
        (void)setsockopt(line.socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(options_.port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        (void)connect(line.socket, reinterpret_cast<sockaddr*>(&to), sizeof to);
        line.slots.resize(per_socket_);
        for (std::size_t i = per_socket_; i-- > 0;) line.free.push_back(static_cast<std::uint16_t>(i));
        return line;
    }

    bool receive(Line& line) {
        const int got = recvmmsg(line.socket, messages_.data(), batch, MSG_DONTWAIT, nullptr);
        now_ = now_ns();
        for (int i = 0; i < got; ++i) take(line, static_cast<std::size_t>(i));
        return got > 0;
    }

    void take(Line& line, std::size_t i) {
        const auto* reply = reinterpret_cast<const unsigned char*>(replies_[i].data());
        const std::size_t size = messages_[i].msg_len;
        if (size < 12 || (reply[2] & 0x80) == 0) {
            ++counts_.stray;
            return;
        }
        const unsigned id = static_cast<unsigned>(reply[0]) << 8 | reply[1];
        const std::size_t number = id & ((1U << shift_) - 1);
        if (number >= per_socket_ || line.slots[number].query == nullptr || id != id_of(line, number)) {
            ++counts_.stray;
            return;
        }
        auto& slot = line.slots[number];
        const auto& query = *slot.query;
        const bool same =
            size >= query.question_end && std::memcmp(reply + 12, query.bytes + 12, query.question_end - 12) == 0;
        counts_.wrong += same ? 0 : 1;
        ++counts_.received;
        counts_.bytes += size;
        ++counts_.rcodes[reply[3] & 15];
        counts_.answers += static_cast<unsigned>(reply[6]) << 8 | reply[7];
        counts_.truncated += (reply[2] & 2) != 0 ? 1 : 0;
        counts_.took.add(now_ - slot.sent);
        release(line, number);
    }

    [[nodiscard]] unsigned id_of(const Line& line, std::size_t number) const {
        return (line.slots[number].uses << shift_ | static_cast<unsigned>(number)) & 0xffff;
    }

    static void release(Line& line, std::size_t number) {
        line.slots[number].query = nullptr;
        ++line.slots[number].uses;
        line.free.push_back(static_cast<std::uint16_t>(number));
    }

    // As many queries of one length as come in a row, in one send.
    bool send(Line& line) {
        std::size_t most = std::min(line.free.size(), options_.together);
        if (options_.rate > 0) {
            const auto due = static_cast<std::uint64_t>(static_cast<double>(now_ - started_) / 1e9 *
                                                        static_cast<double>(options_.rate));
            most = std::min<std::size_t>(most, due > issued_ ? due - issued_ : 0);
        }
        if (most == 0) return false;
        const auto segment = static_cast<std::uint16_t>(queries_[next_].size);
        std::array<std::uint16_t, batch> taken{};
        std::size_t count = 0;
        for (; count < most && queries_[next_].size == segment && (count + 1) * segment <= send_bytes; ++count) {
            const auto number = line.free.back();
            line.free.pop_back();
            taken[count] = number;
            auto& slot = line.slots[number];
            slot.query = &queries_[next_];
            slot.sent = now_;
            char* to = out_.data() + count * segment;
            std::memcpy(to, queries_[next_].bytes, segment);
            const auto id = id_of(line, number);
            to[0] = static_cast<char>(id >> 8);
            to[1] = static_cast<char>(id);
            next_ = next_ + 1 == queries_.size() ? 0 : next_ + 1;
        }
        const bool sent = send_segments(line.socket, segment, count);
        if (sent) {
            counts_.sent += count;
            issued_ += count;
        } else {
            for (std::size_t i = 0; i < count; ++i) release(line, taken[i]);
        }
        return sent;
    }

    bool send_segments(int socket, std::uint16_t segment, std::size_t count) {
        iovec part{out_.data(), segment * count};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof segment)> control{};
        if (count > 1) {
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            auto* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_UDP;
            header->cmsg_type = UDP_SEGMENT;
            header->cmsg_len = CMSG_LEN(sizeof segment);
            std::memcpy(CMSG_DATA(header), &segment, sizeof segment);
        }
        return sendmsg(socket, &message, 0) >= 0;
    }

    void wait() {
        std::array<pollfd, 64> sockets{};
        for (std::size_t i = 0; i < lines_.size(); ++i) sockets[i] = {lines_[i].socket, POLLIN, 0};
        const timespec pause{0, 200'000};
        (void)ppoll(sockets.data(), lines_.size(), &pause, nullptr);
        now_ = now_ns();
    }

    void expire() {
        looked_ = now_;
        for (auto& line : lines_) {
            for (std::size_t i = 0; i < line.slots.size(); ++i) {
                const auto& slot = line.slots[i];
                if (slot.query == nullptr || now_ - slot.sent < options_.timeout_ms * 1'000'000) continue;
                ++counts_.lost;
                release(line, i);
            }
        }
    }

    // What is still on its way is not lost.
    void finish() {
        const auto until = now_ + options_.timeout_ms * 1'000'000;
        const auto open = [this] {
            for (const auto& line : lines_) {
                if (line.free.size() < line.slots.size()) return true;
            }
            return false;
        };
        while (open() && now_ < until) {
            for (auto& line : lines_) (void)receive(line);
            wait();
        }
        for (const auto& line : lines_) counts_.lost += line.slots.size() - line.free.size();
    }

    void print(std::uint64_t warm) const {
        const auto elapsed = static_cast<double>(now_ - measured_) / 1e9;
        const auto received = static_cast<double>(std::max<std::uint64_t>(1, counts_.received));
        fmt::print(
            "{{\"qps\":{:.0f},\"sent\":{},\"received\":{},\"total_received\":{},\"lost\":{},\"stray\":{},\"wrong\":{},"
            "\"truncated\":{},\"noerror\":{},\"servfail\":{},\"nxdomain\":{},\"refused\":{},\"answers_per_reply\":{:."
            "3f},"
            "\"bytes_per_reply\":{:.1f},\"p50_us\":{:.1f},\"p99_us\":{:.1f},\"max_us\":{:.1f}}}\n",
            static_cast<double>(counts_.received) / elapsed, counts_.sent, counts_.received, counts_.received + warm,
            counts_.lost, counts_.stray, counts_.wrong, counts_.truncated, counts_.rcodes[0], counts_.rcodes[2],
            counts_.rcodes[3], counts_.rcodes[5], static_cast<double>(counts_.answers) / received,
            static_cast<double>(counts_.bytes) / received, counts_.took.quantile(0.5) / 1e3,
            counts_.took.quantile(0.99) / 1e3, static_cast<double>(counts_.took.max()) / 1e3);
    }

    const Options& options_;
    const std::vector<Query>& queries_;
    std::size_t per_socket_;
    unsigned shift_ = 0;
    std::vector<Line> lines_;
    std::array<std::array<char, reply_bytes>, batch> replies_{};
    std::array<iovec, batch> parts_{};
    std::array<mmsghdr, batch> messages_{};
    std::array<char, send_bytes> out_{};
    std::size_t next_ = 0;
    std::uint64_t now_ = 0, started_ = 0, measured_ = 0, looked_ = 0, issued_ = 0;
    Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("DNS load over UDP, on loopback");
    app.add_option("--port", options.port)->required();
    app.add_option("--queries", options.queries, "messages, each behind its length in two bytes")->required();
    app.add_option("--seconds", options.seconds);
    app.add_option("--warmup", options.warmup, "seconds before it counts");
    app.add_option("--window", options.window, "outstanding queries");
    app.add_option("--sockets", options.sockets)->check(CLI::Range(1, 64));
    app.add_option("--together", options.together, "queries in one send at most; 1: a packet each")
        ->check(CLI::Range(std::size_t{1}, batch));
    app.add_option("--rate", options.rate, "queries per second instead of as many as come back");
    app.add_option("--timeout-ms", options.timeout_ms);
    CLI11_PARSE(app, argc, argv);
    std::ifstream in(options.queries, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    const auto queries = split(file);
    if (queries.empty() || options.window / options.sockets == 0 || options.window / options.sockets > 4'096) {
        fmt::print(stderr, "no queries in {}, or a wrong window\n", options.queries);
        return 2;
    }
    const auto blast = std::make_unique<Blast>(options, queries);
    blast->run();
    return 0;
}
