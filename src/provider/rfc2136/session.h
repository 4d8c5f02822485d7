// A conversation with one name server over one TCP connection: requests are signed, replies checked, every wait has a
// time limit. One thread at a time. Errors name the server; those of keys have the field spec.dnsProviderSecretRef.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "dns/message_reader.h"
#include "dns/tsig.h"
#include "net/tcp_client.h"

namespace fairlead::provider::rfc2136 {

struct TimeLimits {
    std::chrono::milliseconds connect{3'000};
    std::chrono::milliseconds reply{20'000};  // a large update with signatures to be made takes seconds
    std::chrono::milliseconds call{300'000};  // of a whole list() or apply()
};

inline constexpr std::size_t max_transfer_bytes = 512U << 20;  // 5 million records of 100 bytes

// Takes the replies to one request, transfer or not, and says when all are there. Pure: the fuzzer drives it too.
class ReplyReader {
public:
    ReplyReader(std::uint16_t id, unsigned opcode, dns::TsigReplies signatures)
        : id_(id), opcode_(opcode), signatures_(std::move(signatures)) {}
    // Errors: invalid (no reply to this, or not signed well: with the field), unavailable.
    Result<dns::Message> take(std::string_view packet, WallTime now);
    [[nodiscard]] bool settled() const { return signatures_.settled(); }

private:
    std::uint16_t id_;
    unsigned opcode_;
    dns::TsigReplies signatures_;
};

// The records of a full transfer, in the order of its messages. Pure.
class TransferReader {
public:
    explicit TransferReader(dns::Name apex) : apex_(std::move(apex)) {}
    // Errors: invalid, not_found, unavailable; each record but the SOA at the end goes to `visit`.
    Result<void> take(const dns::Message& message, const std::function<void(const dns::WireRecord&)>& visit);
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] std::uint32_t serial() const { return serial_; }

private:
    Result<void> take_record(const dns::WireRecord& record, const std::function<void(const dns::WireRecord&)>& visit);

    dns::Name apex_;
    std::uint32_t serial_ = 0;
    bool begun_ = false, complete_ = false;
};

// Says whether a packet is the last of a transfer, or cannot be followed by others, without reading its records. Pure.
class TransferEnd {
public:
    bool reached(std::string_view packet);

private:
    std::size_t soas_ = 0;
};

class Session {
public:
    static Result<Session> open(const std::string& server, const dns::TsigKey& key, const Clock& clock, Random& random,
                                const TimeLimits& limits);

    [[nodiscard]] const std::string& server() const { return server_; }
    // Makes a message with the id that it is given.
    using Make = std::function<std::string(std::uint16_t id)>;
    Result<dns::Message> ask(const Make& make);
    // Several at once, replies in the order of the requests.
    Result<std::vector<dns::Message>> ask_all(const std::vector<Make>& requests);
    // Gives the serial.
    Result<std::uint32_t> transfer(const dns::Name& apex, const std::function<void(const dns::WireRecord&)>& visit);

private:
    Session(std::string server, net::TcpClient client, const dns::TsigKey& key, const Clock& clock, Random& random,
            const TimeLimits& limits)
        : server_(std::move(server)),
          client_(std::move(client)),
          key_(key),
          clock_(clock),
          random_(random),
          limits_(limits) {}
    Result<ReplyReader> send(const std::string& message);
    Result<std::string> receive();
    Result<void> ask_some(const std::vector<Make>& requests, std::size_t from, std::vector<dns::Message>& replies);
    [[nodiscard]] tl::unexpected<Error> failed(Error error) const;

    std::string server_;
    net::TcpClient client_;
    dns::TsigKey key_;
    const Clock& clock_;
    Random& random_;
    TimeLimits limits_;
};

}  // namespace fairlead::provider::rfc2136
