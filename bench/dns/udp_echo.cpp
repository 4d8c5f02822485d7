// The cheapest thing that can pass for a DNS server over UDP: one thread receives a batch, says in each header that it
// is an answer, and sends the batch back. What it reaches is the ceiling of any server that uses sockets; bench/dns.py
// measures the others against it.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t batch = 64;
constexpr std::size_t packet_bytes = 1'500;

struct Batch {
    Batch() {
        for (std::size_t i = 0; i < batch; ++i) {
            parts[i] = {bytes[i].data(), packet_bytes};
            messages[i].msg_hdr = {};
            messages[i].msg_hdr.msg_name = &peers[i];
            messages[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
            messages[i].msg_hdr.msg_iov = &parts[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
    }
    std::array<std::array<char, packet_bytes>, batch> bytes;
    std::array<sockaddr_in, batch> peers;
    std::array<iovec, batch> parts;
    std::array<mmsghdr, batch> messages;
};

void echo(int socket, Batch& all) {
    const int received = recvmmsg(socket, all.messages.data(), batch, MSG_WAITFORONE, nullptr);
    if (received <= 0) return;
    for (int i = 0; i < received; ++i) {
        const auto at = static_cast<std::size_t>(i);
        all.parts[at].iov_len = all.messages[at].msg_len;
        all.bytes[at][2] = static_cast<char>((all.bytes[at][2] & 0x79) | 0x84);  // an answer, with authority
    }
    for (int sent = 0; sent < received;) {
        const int done = sendmmsg(socket, all.messages.data() + sent, static_cast<unsigned>(received - sent), 0);
        if (done <= 0) break;
        sent += done;
    }
    for (std::size_t i = 0; i < batch; ++i) {
        all.parts[i].iov_len = packet_bytes;
        all.messages[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: udp_echo PORT\n");
        return 2;
    }
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::strtoul(argv[1], nullptr, 10)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        fmt::print(stderr, "cannot bind: {}\n", std::strerror(errno));
        return 1;
    }
    static Batch all;
    for (;;) echo(socket, all);
}
