#include "net/tcp_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

namespace fairlead::net {
namespace {

using namespace std::chrono_literals;

// A socket that listens on loopback; whoever connects waits until somebody accepts.
struct Listener {
    Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    HostPort at{"127.0.0.1", 0};

    Listener() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(socket.get(), 4), 0);
        EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
        at.port = ntohs(address.sin_port);
    }
    [[nodiscard]] Fd accept() const { return Fd(::accept(socket.get(), nullptr, nullptr)); }
};

TEST(TcpClient, SendsAndReceivesExactly) {
    const Listener listener;
    auto client = TcpClient::connect(listener.at, 1s);
    ASSERT_TRUE(client) << client.error().text();
    const auto peer = listener.accept();
    const std::string large(4U << 20, 'x');
    std::thread reader([&] {
        std::string got(large.size(), '\0');
        std::size_t at = 0;
        while (at < got.size()) {
            const auto read = ::recv(peer.get(), got.data() + at, got.size() - at, 0);
            if (read <= 0) break;
            at += static_cast<std::size_t>(read);
        }
        EXPECT_EQ(at, large.size());
        EXPECT_EQ(::send(peer.get(), "abcdef", 6, MSG_NOSIGNAL), 6);
    });
    EXPECT_TRUE(client->send(large, 10s));
    std::string out = "> ";
    EXPECT_TRUE(client->receive(out, 2, 10s));
    EXPECT_TRUE(client->receive(out, 4, 10s));
    EXPECT_EQ(out, "> abcdef");
    reader.join();
}

TEST(TcpClient, WaitsNoLongerThanItShould) {
    const Listener listener;
    auto client = TcpClient::connect(listener.at, 1s);
    ASSERT_TRUE(client);
    const auto peer = listener.accept();
    std::string out;
    const auto silent = client->receive(out, 1, 20ms);
    ASSERT_FALSE(silent);
    EXPECT_EQ(silent.error().code, Errc::timeout);
    const auto deaf = client->send(std::string(64U << 20, 'x'), 20ms);
    ASSERT_FALSE(deaf);
    EXPECT_EQ(deaf.error().code, Errc::timeout);
}

TEST(TcpClient, SaysWhoIsNotThere) {
    HostPort nobody;
    {
        const Listener gone;
        nobody = gone.at;
    }
    const auto refused = TcpClient::connect(nobody, 1s);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    EXPECT_EQ(refused.error().message,
              "cannot connect to 127.0.0.1:" + std::to_string(nobody.port) + ": Connection refused");
    const Listener listener;
    auto client = TcpClient::connect(listener.at, 1s);
    ASSERT_TRUE(client);
    { const auto peer = listener.accept(); }
    std::string out;
    const auto ended = client->receive(out, 1, 1s);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().message, "the peer ended the connection");
}

TEST(TcpClient, AddressesWithPorts) {
    EXPECT_EQ(parse_host_port("192.0.2.53:53"), (HostPort{"192.0.2.53", 53}));
    EXPECT_EQ(parse_host_port("[2001:db8::53]:5353"), (HostPort{"2001:db8::53", 5353}));
    EXPECT_EQ(parse_host_port("ns1.example.com:53"), (HostPort{"ns1.example.com", 53}));
    for (const auto* text : {"", "192.0.2.53", ":53", "a:0", "a:65536", "a:x"})
        EXPECT_FALSE(parse_host_port(text)) << text;
}

TEST(AddressPort, takes_an_address_with_a_port_or_without) {
    struct Case {
        const char* text;
        std::optional<HostPort> expected;
    };
    for (const auto& [text, expected] :
         {Case{"192.0.2.53", HostPort{"192.0.2.53", 53}}, Case{"192.0.2.53:5353", HostPort{"192.0.2.53", 5353}},
          Case{"2001:db8::53", HostPort{"2001:db8::53", 53}}, Case{"[2001:db8::53]", HostPort{"2001:db8::53", 53}},
          Case{"[2001:db8::53]:5353", HostPort{"2001:db8::53", 5353}}, Case{"ns.example.com", std::nullopt},
          Case{"192.0.2.53:0", std::nullopt}, Case{"192.0.2.53:x", std::nullopt}, Case{"", std::nullopt}}) {
        const auto server = parse_address_port(text, 53);
        EXPECT_EQ(server.has_value(), expected.has_value()) << text;
        if (server && expected) {
            EXPECT_EQ(*server, *expected) << text;
        }
    }
}

}  // namespace
}  // namespace fairlead::net
