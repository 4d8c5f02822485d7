// Durable puts against etcd over gRPC, its native protocol, with N clients in closed loops: the peer of the create
// benchmark. One thread and one channel per client, as N independent clients would be. bench/run.py starts it.
#include <fmt/core.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    std::string address, ca;
    int clients = 1;
    int seconds = 5;
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
std::string put_request(const std::string& key, const std::string& value) {
    std::string out = "\x0a";
    append_varint(out, key.size());
    out += key;
    out += '\x12';
    append_varint(out, value.size());
    return out + value;
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
    grpc::GenericStub stub(grpc::CreateCustomChannel(options.address, credentials, arguments));
    grpc::CompletionQueue queue;
    const std::string value(options.value_bytes, 'v');
    Outcome outcome;
    for (int i = 0; Clock::now() < end; ++i) {
        const grpc::Slice bytes(put_request(fmt::format("bench/{:04}/{:08}", number, i), value));
        const grpc::ByteBuffer request(&bytes, 1);
        grpc::ByteBuffer response;
        grpc::Status status;
        grpc::ClientContext context;
        const auto started = Clock::now();
        const auto call = stub.PrepareUnaryCall(&context, "/etcdserverpb.KV/Put", request, &queue);
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
    CLI::App app("Durable puts against etcd over gRPC");
    app.add_option("--address", options.address)->required();
    app.add_option("--ca", options.ca, "TLS with this CA; without it plain");
    app.add_option("--clients", options.clients);
    app.add_option("--seconds", options.seconds);
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
