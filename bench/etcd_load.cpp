// Puts, gets and ranges against etcd over gRPC, its native protocol, with N clients in closed loops: the peer of our
// create, get and list benchmarks. One thread and one channel per client, as N independent clients would be.
#include <fmt/core.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    std::string address, ca, mode = "put";
    int clients = 1;
    int seconds = 5;
    int requests = 0;  // in all; 0: as many as fit into `seconds`
    int first = 0;     // number of each client's first key: a later run adds to what an earlier one stored
    std::size_t value_bytes = 1024;
};

struct Outcome {
    std::vector<float> took_ms;
    int errors = 0;
};

void append_varint(std::string& out, std::size_t n) {
    for (; n >= 0x80; n >>= 7) out += static_cast<char>((n & 0x7f) | 0x80);
    out += static_cast<char>(n);
}

// etcdserverpb.PutRequest{bytes key = 1; bytes value = 2}, by hand: two fields are no reason for a code generator.
// RangeRequest{bytes key = 1; bytes range_end = 2} has the same form.
std::string two_fields(const std::string& first, const std::string& second) {
    std::string out = "\x0a";
    append_varint(out, first.size());
    out += first;
    if (second.empty()) return out;
    out += '\x12';
    append_varint(out, second.size());
    return out + second;
}

struct Call {
    const char* method;
    std::string request;
};

Call make_call(const Options& options, const std::string& value, int client, int i) {
    if (options.mode == "get") return {"/etcdserverpb.KV/Range", two_fields("bench/0000/00000000", "")};
    if (options.mode == "range") return {"/etcdserverpb.KV/Range", two_fields("bench/", "bench0")};  // '0' follows '/'
    return {"/etcdserverpb.KV/Put", two_fields(fmt::format("bench/{:04}/{:08}", client, i), value)};
}

Outcome run_client(const Options& options, int number, Clock::time_point end) {
    std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
    if (!options.ca.empty()) {
        std::ostringstream pem;
        pem << std::ifstream(options.ca).rdbuf();
        grpc::SslCredentialsOptions tls;
        tls.pem_root_certs = pem.str();
        credentials = grpc::SslCredentials(tls);
    }
    grpc::ChannelArguments arguments;
    arguments.SetInt("fairlead.bench.client", number);  // distinct arguments: a connection of its own
    arguments.SetMaxReceiveMessageSize(-1);             // a range of 100,000 is one answer
    grpc::GenericStub stub(grpc::CreateCustomChannel(options.address, credentials, arguments));
    grpc::CompletionQueue queue;
    const std::string value(options.value_bytes, 'v');
    Outcome outcome;
    const int limit = options.requests > 0 ? options.requests / options.clients : std::numeric_limits<int>::max();
    for (int i = 0; i < limit && Clock::now() < end; ++i) {
        const Call made = make_call(options, value, number, options.first + i);
        const grpc::Slice bytes(made.request);
        const grpc::ByteBuffer request(&bytes, 1);
        grpc::ByteBuffer response;
        grpc::Status status;
        grpc::ClientContext context;
        const auto started = Clock::now();
        const auto call = stub.PrepareUnaryCall(&context, made.method, request, &queue);
        call->StartCall();
        call->Finish(&response, &status, nullptr);
        void* tag = nullptr;
        bool ok = false;
        queue.Next(&tag, &ok);
        if (!ok || !status.ok()) {
            ++outcome.errors;
            continue;
        }
        outcome.took_ms.push_back(std::chrono::duration<float, std::milli>(Clock::now() - started).count());
    }
    queue.Shutdown();
    return outcome;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Load against etcd over gRPC");
    app.add_option("--address", options.address)->required();
    app.add_option("--ca", options.ca, "TLS with this CA; without it plain");
    app.add_option("--clients", options.clients);
    app.add_option("--mode", options.mode)->check(CLI::IsMember({"put", "get", "range"}));
    app.add_option("--seconds", options.seconds);
    app.add_option("--requests", options.requests);
    app.add_option("--first", options.first);
    app.add_option("--value-bytes", options.value_bytes);
    CLI11_PARSE(app, argc, argv);

    const auto started = Clock::now();
    const auto end = started + std::chrono::seconds(options.seconds);
    std::vector<Outcome> outcomes(static_cast<std::size_t>(options.clients));
    std::vector<std::thread> threads;
    for (int i = 0; i < options.clients; ++i) {
        threads.emplace_back([&, i] { outcomes[static_cast<std::size_t>(i)] = run_client(options, i, end); });
    }
    for (auto& thread : threads) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();

    std::vector<float> took;
    int errors = 0;
    for (const auto& outcome : outcomes) {
        took.insert(took.end(), outcome.took_ms.begin(), outcome.took_ms.end());
        errors += outcome.errors;
    }
    std::sort(took.begin(), took.end());
    const auto at = [&](double share) {
        return took.empty() ? 0.0F : took[static_cast<std::size_t>(share * static_cast<double>(took.size() - 1))];
    };
    fmt::print(
        R"({{"requests":{},"errors":{},"seconds":{:.2f},"rps":{:.0f},"p50_ms":{:.3f},"p99_ms":{:.3f},"max_ms":{:.3f}}})"
        "\n",
        took.size(), errors, seconds, static_cast<double>(took.size()) / seconds, at(0.5), at(0.99), at(1));
    return errors == 0 ? 0 : 1;
}
