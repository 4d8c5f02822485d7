#include "simulation/sim_link.h"

#include <algorithm>
#include <utility>

#include "apiserver/request_info.h"

namespace fairlead::simulation {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view expired_line =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}})";
constexpr auto longest_delay = 2s;

}  // namespace

// A call that is under way.
struct Network::Open {
    std::string path;
    std::optional<cluster::Sending> sending;  // of a write
    bool watch = false, silenced = false, over = false;
    MonotonicTime due;
    MonotonicTime ends;  // of a watch: by its own time limit
    std::unique_ptr<apiserver::WatchStream> stream;
    std::function<void(Result<std::string>)> listed;
    std::function<void(std::string_view)> line;
    std::function<void(Result<void>)> ended;

    void fail_with(const Error& error) {
        over = true;
        if (silenced) return;
        if (watch) {
            ended(fail(error));
        } else {
            listed(fail(error));
        }
    }
};

class Network::SimCall final : public cluster::Call {
public:
    explicit SimCall(std::shared_ptr<Open> open) : open_(std::move(open)) {}
    SimCall(const SimCall&) = delete;
    SimCall& operator=(const SimCall&) = delete;
    ~SimCall() override { open_->silenced = open_->over = true; }

private:
    std::shared_ptr<Open> open_;
};

class Network::SimLink final : public cluster::Link {
public:
    SimLink(Network& network, std::string server) : network_(network), server_(std::move(server)) {}
    std::unique_ptr<cluster::Call> list(std::string path, std::function<void(Result<std::string>)> done) override {
        auto open = std::make_shared<Open>();
        open->path = std::move(path);
        open->listed = std::move(done);
        ++network_.figures_.lists;
        return network_.start(server_, std::move(open));
    }
    std::unique_ptr<cluster::Call> watch(std::string path, std::function<void(std::string_view)> line,
                                         std::function<void(Result<void>)> done) override {
        auto open = std::make_shared<Open>();
        open->path = std::move(path);
        open->watch = true;
        open->line = std::move(line);
        open->ended = std::move(done);
        ++network_.figures_.watches;
        return network_.start(server_, std::move(open));
    }

    std::unique_ptr<cluster::Call> send(cluster::Sending sending,
                                        std::function<void(Result<std::string>)> done) override {
        auto open = std::make_shared<Open>();
        open->sending = std::move(sending);
        open->listed = std::move(done);
        ++network_.figures_.writes;
        return network_.start(server_, std::move(open));
    }

private:
    Network& network_;
    std::string server_;
};

std::unique_ptr<cluster::Link> Network::link(const std::string& server) {
    return std::make_unique<SimLink>(*this, server);
}

MonotonicTime Network::soon() {
    const auto most = faulty && dice_.chance(100) ? std::chrono::milliseconds(longest_delay) : 50ms;
    return clock_.monotonic() + std::chrono::milliseconds(1 + dice_.below(static_cast<std::uint64_t>(most.count())));
}

std::unique_ptr<cluster::Call> Network::start(const std::string& server, std::shared_ptr<Open> open) {
    open->due = soon();
    ends_.at(server).open.push_back(open);
    return std::make_unique<SimCall>(std::move(open));
}

void Network::cut(const std::string& server, Cut how) {
    auto& end = ends_.at(server);
    const auto before = std::exchange(end.cut, how);
    // What hung without a word while nothing arrived: sometimes its packets come after all, else it is lost.
    for (const auto& open : end.open) {
        if (how == Cut::refused || (before == Cut::silent && dice_.chance(700))) {
            open->due = soon();
            if (open->watch && open->stream && how == Cut::none) open->ends = open->due;
        } else if (how == Cut::none) {
            open->due = std::max(open->due, soon());
        }
    }
}

void Network::changed(const std::string& server) {
    for (const auto& open : ends_.at(server).open) {
        if (open->watch && open->stream) open->due = std::min(open->due, soon());
    }
}

void Network::disturb(const std::string& server) {
    auto& end = ends_.at(server);
    if (end.cut != Cut::none) return;
    const auto disturbed = end.open;  // callbacks may begin other calls
    for (const auto& open : disturbed) {
        if (!open->watch || !open->stream || open->over || dice_.chance(300)) continue;
        if (dice_.chance(500)) {
            ++figures_.expired;
            if (!open->silenced) open->line(expired_line);
            open->over = true;
            if (!open->silenced) open->ended({});
        } else {
            ++figures_.broken;
            open->fail_with({Errc::unavailable, {}, "connection reset"});
        }
    }
}

void Network::deliver_lines(Open& open) {
    std::string text;
    auto next = net::StreamBody::Next::data;
    while (next == net::StreamBody::Next::data) next = open.stream->pull(text);
    for (std::size_t at = 0; at < text.size() && !open.over;) {
        const auto to = std::min(text.find('\n', at), text.size());
        if (faulty && dice_.chance(20)) {
            ++figures_.broken;
            return open.fail_with({Errc::unavailable, {}, "connection reset in the middle"});
        }
        ++figures_.lines;
        if (loses_lines && dice_.chance(200)) {
            at = to + 1;
            continue;
        }
        if (!open.silenced) open.line(std::string_view(text).substr(at, to - at));
        at = to + 1;
    }
    if (open.over) return;
    if (next == net::StreamBody::Next::end || clock_.monotonic() >= open.ends) {
        open.over = true;
        if (!open.silenced) open.ended({});
        return;
    }
    open.due = open.ends;
}

// Whoever has given up on it (silenced) may have been too late to stop it.
void Network::deliver_write(End& end, Open& open) {
    if (faulty && dice_.chance(30)) {
        ++figures_.broken;
        return open.fail_with({Errc::unavailable, {}, "connection reset before it was sent"});
    }
    auto answer = end.api->write(*open.sending);
    if (faulty && dice_.chance(30)) {
        ++figures_.broken;
        return open.fail_with({Errc::timeout, {}, "no answer in time"});
    }
    open.over = true;
    if (!open.silenced) open.listed(std::move(answer));
}

void Network::deliver(End& end, Open& open) {
    if (end.cut == Cut::silent) {
        open.due = MonotonicTime::max();
        return;
    }
    if (end.cut == Cut::refused) return open.fail_with({Errc::unavailable, {}, "connection refused"});
    if (open.sending) return deliver_write(end, open);
    if (!open.watch) {
        auto body = end.api->list(open.path);
        open.over = true;
        if (!open.silenced) open.listed(std::move(body));
        return;
    }
    if (!open.stream) {
        auto stream = end.api->watch(open.path);
        if (!stream) return open.fail_with(stream.error());
        open.stream = std::move(*stream);
        const auto limit = apiserver::parse_query(apiserver::parse_target(open.path).query);
        open.ends =
            clock_.monotonic() + std::chrono::seconds(limit && limit->timeout_seconds ? *limit->timeout_seconds : 300);
    }
    deliver_lines(open);
}

void Network::pump() {
    const auto now = clock_.monotonic();
    for (auto& [server, end] : ends_) {
        const auto open = end.open;  // callbacks may begin other calls
        for (const auto& each : open) {
            if (!each->over && each->due <= now) deliver(end, *each);
        }
        std::erase_if(end.open, [](const auto& each) { return each->over; });
    }
}

std::optional<MonotonicTime> Network::due() const {
    std::optional<MonotonicTime> due;
    for (const auto& [server, end] : ends_) {
        for (const auto& each : end.open) {
            if (!each->over && (!due || each->due < *due)) due = each->due;
        }
    }
    return due;
}

}  // namespace fairlead::simulation
