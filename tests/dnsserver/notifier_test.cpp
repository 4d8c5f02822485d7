#include "dnsserver/notifier.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "decoded.h"
#include "dns/zones.h"

namespace fairlead::dnsserver {
namespace {

using dns::name_of;

// A secondary: a socket on a free port of loopback.
class Secondary {
public:
    Secondary() : descriptor_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        socklen_t size = sizeof(address);
        EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
    }
    ~Secondary() { ::close(descriptor_); }
    Secondary(const Secondary&) = delete;
    Secondary& operator=(const Secondary&) = delete;
    [[nodiscard]] std::uint16_t port() const { return port_; }

    // The next notice; empty if none comes in `patience`.
    std::string receive(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
        pollfd file{descriptor_, POLLIN, 0};
        if (::poll(&file, 1, static_cast<int>(patience.count())) <= 0) return {};
        std::string message(2'000, '\0');
        socklen_t size = sizeof(from_);
        const auto got =
            ::recvfrom(descriptor_, message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&from_), &size);
        message.resize(static_cast<std::size_t>(got));
        return message;
    }
    void answer(const std::string& message) {
        ::sendto(descriptor_, message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&from_), sizeof(from_));
    }

private:
    int descriptor_;
    std::uint16_t port_ = 0;
    sockaddr_in from_{};
};

class NotifierTest : public testing::Test {
protected:
    NotifierTest() {
        const auto zone = dns::make_zone("example.com", {});
        zones_.add_zone(apex_);
        zones_.put(apex_, apex_, *zone.find(apex_));
        zones_.publish();
        auto started = Notifier::start({zones_.published(), clock_, random_, log_, metrics_}, {});
        EXPECT_TRUE(started);
        notifier_ = std::move(*started);
    }
    void follow(const std::optional<dns::Name>& key = {}) {
        auto policy = std::make_shared<TransferPolicy>();
        policy->keys[key_.name] = key_;
        policy->peers[apex_] = {{dns::Prefix::parse("127.0.0.1").value(), secondary_.port(), key, true}};
        notifier_->set_policy(policy);
    }
    void change(std::uint32_t serial) {
        zones_.set_serial(apex_, serial);
        zones_.publish();
        notifier_->zone_changed(apex_, serial);
    }
    static std::string reply_to(std::string notice, unsigned rcode = 0) {
        constexpr std::size_t question_end = 12 + 13 + 4;
        notice.resize(question_end);
        notice[2] = static_cast<char>(0xa4);
        notice[3] = static_cast<char>(rcode);
        for (const std::size_t at : {6U, 7U, 8U, 9U, 10U, 11U}) notice[at] = 0;
        return notice;
    }
    // The thread counts shortly after the answer has been sent.
    [[nodiscard]] bool soon(const std::string& metric) const {
        for (int i = 0; i < 2'000; ++i) {
            if (metrics_.expose().find(metric) != std::string::npos) return true;
            ::usleep(5'000);
        }
        return false;
    }

    dns::Name apex_ = name_of("example.com");
    dns::TsigKey key_{name_of("transfer.key"), dns::TsigAlgorithm::hmac_sha256, "a secret of some length"};
    SystemClock clock_;
    SystemRandom random_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    ZoneSet zones_{1};
    Secondary secondary_;
    std::unique_ptr<Notifier> notifier_;
};

TEST_F(NotifierTest, TellsANewPeerAndThenEachChange) {
    follow();
    const auto first = secondary_.receive();
    ASSERT_FALSE(first.empty());
    const auto notice = decode(first);
    EXPECT_EQ(notice.flags, 0x2400U) << "NOTIFY, authoritative";
    EXPECT_THAT(notice.questions, testing::ElementsAre("example.com SOA"));
    ASSERT_EQ(notice.answer.size(), 1U);
    EXPECT_THAT(notice.answer[0], testing::HasSubstr(" 1 7200"));
    EXPECT_FALSE(notice.tsig);
    secondary_.answer(reply_to(first));
    ASSERT_TRUE(soon("fairlead_dns_notify_acknowledged_total{zone=\"example.com\"} 1"));

    change(2);
    const auto second = secondary_.receive();
    ASSERT_FALSE(second.empty());
    EXPECT_THAT(decode(second).answer.at(0), testing::HasSubstr(" 2 7200"));
    secondary_.answer(reply_to(second));
    ASSERT_TRUE(soon("fairlead_dns_notify_acknowledged_total{zone=\"example.com\"} 2"));
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_dns_notify_sent_total{zone=\"example.com\"} 2"));
}

TEST_F(NotifierTest, AsksAgainUntilTheAnswerIsGood) {
    follow();
    const auto first = secondary_.receive();
    secondary_.answer(reply_to(first, 5));  // refused
    auto wrong_id = reply_to(first);
    wrong_id[0] = static_cast<char>(wrong_id[0] ^ 0x55);
    secondary_.answer(wrong_id);
    const auto second = secondary_.receive();
    ASSERT_FALSE(second.empty()) << "neither was an acknowledgement";
    secondary_.answer(reply_to(second));
    EXPECT_TRUE(soon("fairlead_dns_notify_acknowledged_total{zone=\"example.com\"} 1"));
}

TEST_F(NotifierTest, SignsAndWantsASignedAnswer) {
    follow(key_.name);
    const auto first = secondary_.receive();
    ASSERT_FALSE(first.empty());
    // The check for requests reads a NOTIFY as well: its record is the last.
    const std::size_t record = key_.name.wire().size() + 10 + 13 + 16 + 32;
    auto check = dns::check_tsig(first, first.size() - record, {{key_.name, key_}}, clock_.now());
    ASSERT_EQ(check.verdict, dns::TsigCheck::Verdict::valid);
    secondary_.answer(reply_to(first));  // not signed
    const auto second = secondary_.receive();
    ASSERT_FALSE(second.empty()) << "an answer without signature is none";
    check = dns::check_tsig(second, second.size() - record, {{key_.name, key_}}, clock_.now());
    auto good = reply_to(second);
    check.replies.sign(good, clock_.now());
    secondary_.answer(good);
    EXPECT_TRUE(soon("fairlead_dns_notify_acknowledged_total{zone=\"example.com\"} 1"));
}

}  // namespace
}  // namespace fairlead::dnsserver
