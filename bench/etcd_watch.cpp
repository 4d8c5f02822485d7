// The peer of watch_load: how long a put to etcd takes from being sent to being read by each of N watchers, over gRPC
// with TLS, each watcher on a connection of its own. One thread reads all watchers, another writes at a fixed rate.
#include <fmt/core.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pace.h"

namespace {

using fairlead::bench::now_ns;
using fairlead::bench::paced;
using fairlead::bench::percentile;

struct Options {
    std::string address, ca;
    int watchers = 1;
    int prefixes = 1;  // as namespaces in watch_load
    int rate = 1000;
    int seconds = 5;
    int payload = 200;
};

// A length-delimited protobuf field; everything here is shorter than 16 KiB.
std::string field(int number, const std::string& bytes) {
    std::string out(1, static_cast<char>(number << 3 | 2));
    if (bytes.size() >= 0x80) out += static_cast<char>((bytes.size() & 0x7f) | 0x80);
    out += static_cast<char>(bytes.size() >= 0x80 ? bytes.size() >> 7 : bytes.size());
    return out + bytes;
}

grpc::ByteBuffer message(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    return {&slice, 1};
}

std::string prefix(const Options& options, int i) { return fmt::format("watch/{:05}/", i % options.prefixes); }

std::shared_ptr<grpc::Channel> connect(const Options& options, int number) {
    std::ostringstream pem;
    pem << std::ifstream(options.ca).rdbuf();
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = pem.str();
    grpc::ChannelArguments arguments;
    arguments.SetInt("fairlead.bench.client", number);  // distinct arguments: a connection of its own
    return grpc::CreateCustomChannel(options.address, grpc::SslCredentials(tls), arguments);
}

// One watch stream. Its completions come one at a time: started, request written, then one per message.
class Watcher {
public:
    Watcher(const Options& options, int number, grpc::CompletionQueue& queue, std::vector<float>& took,
            std::atomic<int>& open)
        : took_(took), open_(open), stub_(connect(options, number)) {
        std::string end = prefix(options, number);
        end.back() = '0';  // follows '/': the end of the prefix's range
        request_ = field(1, field(1, prefix(options, number)) + field(2, end));
        call_ = stub_.PrepareCall(&context_, "/etcdserverpb.Watch/Watch", &queue);
        call_->StartCall(this);
    }
    void proceed() {
        switch (state_) {
            case State::starting:
                state_ = State::asking;
                return call_->Write(message(request_), this);
            case State::asking:
                state_ = State::reading;
                return call_->Read(&incoming_, this);
            case State::reading:
                if (created_) scan();
                if (!created_) ++open_;
                created_ = true;
                return call_->Read(&incoming_, this);
        }
    }
    void cancel() { context_.TryCancel(); }

private:
    enum class State { starting, asking, reading };

    void scan() {
        constexpr std::string_view marker = "\"sentAt\":\"";
        const std::int64_t now = now_ns();
        grpc::Slice slice;
        if (!incoming_.DumpToSingleSlice(&slice).ok()) return;
        const std::string_view text(reinterpret_cast<const char*>(slice.begin()), slice.size());
        for (auto at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at + 1)) {
            const std::int64_t sent = std::strtoll(text.data() + at + marker.size(), nullptr, 10);
            took_.push_back(static_cast<float>(static_cast<double>(now - sent) / 1e6));
        }
    }

    std::vector<float>& took_;
    std::atomic<int>& open_;
    grpc::GenericStub stub_;
    grpc::ClientContext context_;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
    std::string request_;
    grpc::ByteBuffer incoming_;
    State state_ = State::starting;
    bool created_ = false;
};

bool put(grpc::GenericStub& stub, grpc::CompletionQueue& queue, const std::string& key, const std::string& value) {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    grpc::Status status;
    const auto call =
        stub.PrepareUnaryCall(&context, "/etcdserverpb.KV/Put", message(field(1, key) + field(2, value)), &queue);
    call->StartCall();
    call->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok && status.ok();
}

int run(const Options& options) {
    std::vector<float> took;
    took.reserve(static_cast<std::size_t>(options.rate) * static_cast<std::size_t>(options.seconds) *
                 static_cast<std::size_t>(std::max(1, options.watchers / options.prefixes)));
    grpc::CompletionQueue events;
    std::atomic<int> open{0};
    std::thread reader([&] {
        void* tag = nullptr;
        bool ok = false;
        while (events.Next(&tag, &ok)) {
            if (ok) static_cast<Watcher*>(tag)->proceed();
        }
    });
    std::vector<std::unique_ptr<Watcher>> watchers;
    for (int i = 0; i < options.watchers; ++i) {
        watchers.push_back(std::make_unique<Watcher>(options, i, events, took, open));
    }
    while (open < options.watchers) std::this_thread::sleep_for(std::chrono::milliseconds(10));

    grpc::GenericStub stub(connect(options, -1));
    grpc::CompletionQueue answers;
    const std::string padding(static_cast<std::size_t>(options.payload), 'x');
    const int writes = options.rate * options.seconds;
    int failures = 0;
    const double seconds = paced(options.rate, options.seconds, [&](int i) {
        const std::string value = fmt::format(R"({{"sentAt":"{:020}","pad":"{}"}})", now_ns(), padding);
        if (!put(stub, answers, fmt::format("{}{:08}", prefix(options, i), i), value)) ++failures;
    });
    std::this_thread::sleep_for(std::chrono::seconds(2));  // whatever is still under way arrives
    for (const auto& watcher : watchers) watcher->cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    events.Shutdown();
    reader.join();

    const std::size_t wanted = static_cast<std::size_t>(writes - failures) *
                               static_cast<std::size_t>(options.watchers) / static_cast<std::size_t>(options.prefixes);
    fmt::print(
        R"({{"watchers":{},"writes_per_second":{:.0f},"failures":{},"delivered":{},"wanted":{},"p50_ms":{:.3f},"p99_ms":{:.3f},"max_ms":{:.3f}}})"
        "\n",
        options.watchers, writes / seconds, failures, took.size(), wanted, percentile(took, 0.5),
        percentile(took, 0.99), percentile(took, 1.0));
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Watch latency of etcd: put sent to event read");
    app.add_option("--address", options.address)->required();
    app.add_option("--ca", options.ca)->required();
    app.add_option("--watchers", options.watchers);
    app.add_option("--prefixes", options.prefixes);
    app.add_option("--rate", options.rate);
    app.add_option("--seconds", options.seconds);
    app.add_option("--payload", options.payload);
    CLI11_PARSE(app, argc, argv);
    return run(options);
}
