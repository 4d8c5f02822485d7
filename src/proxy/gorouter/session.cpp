#include "proxy/gorouter/session.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/files.h"
#include "net/handles.h"
#include "proxy/gorouter/nkey.h"

namespace fairlead::proxy::gorouter {

namespace {

constexpr int pings_out = 2;
constexpr std::chrono::seconds write_limit{10};

using OptionsHandle = std::unique_ptr<natsOptions, net::Free<natsOptions_Destroy>>;
using ConnectionHandle = std::unique_ptr<natsConnection, net::Free<natsConnection_Destroy>>;
using SubscriptionHandle = std::unique_ptr<natsSubscription, net::Free<natsSubscription_Destroy>>;
using MessageHandle = std::unique_ptr<natsMsg, net::Free<natsMsg_Destroy>>;

// "nats: Connection refused"
std::string said(natsStatus status) {
    natsStatus last = NATS_OK;
    const char* const more = nats_GetLastError(&last);
    return more != nullptr && *more != 0 ? fmt::format("{}: {}", natsStatus_GetText(status), more)
                                         : std::string(natsStatus_GetText(status));
}

// "host" of "tls://user:secret@host:4222".
std::string host_of(const std::string& url) {
    auto host = url;
    if (const auto scheme = host.find("://"); scheme != std::string::npos) host.erase(0, scheme + 3);
    if (const auto user = host.rfind('@'); user != std::string::npos) host.erase(0, user + 1);
    host.resize(std::min(host.find('/'), host.size()));
    if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.rfind(':'));
}

bool wants_tls(const NatsOptions& wanted, const std::string& url) {
    return wanted.tls || url.starts_with("tls://") || !wanted.ca.empty() || !wanted.certificate.empty();
}

class NatsSession final : public Session {
public:
    NatsSession(std::string prefix, Listener listener)
        : start_(prefix + ".start"), greet_(prefix + ".greet"), listener_(std::move(listener)) {}

    ~NatsSession() override {
        if (!connection_) return;
        natsConnection_Close(connection_.get());
        // libnats calls back from threads of its own; what it calls must be there until it says that it is through.
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return callbacks_ == 0; });
    }
    NatsSession(const NatsSession&) = delete;
    NatsSession& operator=(const NatsSession&) = delete;

    Result<void> open(const NatsOptions& wanted, const std::string& url) {
        auto options = configure(wanted, url);
        if (!options) return fail(options.error());
        natsConnection* made = nullptr;
        if (const auto status = natsConnection_Connect(&made, options->get()); status != NATS_OK) {
            // With TLS 1.3 a client is through with its handshake before the server says no to its certificate.
            const bool ended = status == NATS_PROTOCOL_ERROR && wants_tls(wanted, url);
            return fail(Errc::unavailable, fmt::format("{}: {}{}", without_credentials(url), said(status),
                                                       ended ? "; the server ended the connection: it may want a "
                                                               "certificate of the client, or another one"
                                                             : ""));
        }
        {
            const std::lock_guard lock(mutex_);
            ++callbacks_;  // that it is closed
        }
        connection_.reset(made);
        natsInbox* name = nullptr;
        if (natsInbox_Create(&name) == NATS_OK) {
            inbox_ = name;
            natsInbox_Destroy(name);
        }
        if (auto done = subscribe(start_, started_, &NatsSession::on_start); !done) return done;
        if (auto done = subscribe(inbox_, greeted_, &NatsSession::on_greeted); !done) return done;
        return flush(wanted.connect_timeout);
    }

    Result<void> publish(const Message& message) override {
        // Subjects are whole strings: they end with a zero.
        return judge(natsConnection_Publish(connection_.get(), message.subject.data(), message.body.data(),
                                            static_cast<int>(message.body.size())));
    }
    Result<void> greet() override {
        return judge(natsConnection_PublishRequest(connection_.get(), greet_.c_str(), inbox_.c_str(), nullptr, 0));
    }
    Result<void> flush(std::chrono::milliseconds limit) override {
        return judge(natsConnection_FlushTimeout(connection_.get(), limit.count()));
    }
    [[nodiscard]] bool lost() const override { return lost_; }

private:
    // Read for each connection, as libnats reads credentials: the file may have changed since.
    Result<void> load_nkey(const std::filesystem::path& file) {
        const auto text = read_file(file);
        if (!text) return fail(Errc::invalid, "nkey seed", text.error().text());
        auto key = read_nkey(*text);
        if (!key) return fail(Errc::invalid, "nkey seed", key.error().text());
        nkey_ = std::move(*key);
        return {};
    }

    [[nodiscard]] Result<OptionsHandle> configure(const NatsOptions& wanted, const std::string& url) {
        natsOptions* made = nullptr;
        if (const auto status = natsOptions_Create(&made); status != NATS_OK) return fail(Errc::internal, said(status));
        OptionsHandle options(made);
        natsStatus status = NATS_OK;
        std::string field;
        const auto set = [&](const char* name, natsStatus outcome) {
            if (outcome == NATS_OK || status != NATS_OK) return;
            status = outcome;
            field = name;
        };
        set("url", natsOptions_SetURL(made, url.c_str()));
        set("name", natsOptions_SetName(made, wanted.name.c_str()));
        if (!wanted.user.empty()) {
            set("user", natsOptions_SetUserInfo(made, wanted.user.c_str(), wanted.password.c_str()));
        }
        if (!wanted.token.empty()) set("token", natsOptions_SetToken(made, wanted.token.c_str()));
        if (!wanted.credentials.empty()) {
            set("credentials", natsOptions_SetUserCredentialsFromFiles(made, wanted.credentials.c_str(), nullptr));
        }
        if (!wanted.nkey_seed.empty()) {
            if (auto loaded = load_nkey(wanted.nkey_seed); !loaded) return fail(std::move(loaded.error()));
            set("nkey", natsOptions_SetNKey(made, nkey_.public_key.c_str(), &NatsSession::on_nonce, this));
        }
        if (wants_tls(wanted, url)) {
            set("tls", natsOptions_SetSecure(made, true));
            const auto name = wanted.server_name.empty() ? host_of(url) : wanted.server_name;
            set("server name", natsOptions_SetExpectedHostname(made, name.c_str()));
            if (!wanted.ca.empty()) set("ca", natsOptions_LoadCATrustedCertificates(made, wanted.ca.c_str()));
            if (!wanted.certificate.empty()) {
                set("certificate",
                    natsOptions_LoadCertificatesChain(made, wanted.certificate.c_str(), wanted.key.c_str()));
            }
        }
        set("timeout", natsOptions_SetTimeout(made, wanted.connect_timeout.count()));
        set("ping interval", natsOptions_SetPingInterval(made, wanted.ping_interval.count()));
        set("pings", natsOptions_SetMaxPingsOut(made, pings_out));
        set("write deadline", natsOptions_SetWriteDeadline(made, std::chrono::milliseconds(write_limit).count()));
        set("reconnect", natsOptions_SetAllowReconnect(made, false));
        set("discovery", natsOptions_SetIgnoreDiscoveredServers(made, true));
        set("echo", natsOptions_SetNoEcho(made, true));
        set("closed", natsOptions_SetClosedCB(made, &NatsSession::on_closed, this));
        set("errors", natsOptions_SetErrorHandler(made, &NatsSession::on_error, nullptr));
        if (status != NATS_OK) return fail(Errc::invalid, field, said(status));
        return options;
    }

    Result<void> subscribe(const std::string& subject, SubscriptionHandle& handle, natsMsgHandler handler) {
        natsSubscription* made = nullptr;
        auto status = natsConnection_Subscribe(&made, connection_.get(), subject.c_str(), handler, this);
        if (status != NATS_OK) return judge(status);
        handle.reset(made);
        {
            const std::lock_guard lock(mutex_);
            ++callbacks_;
        }
        status = natsSubscription_SetOnCompleteCB(made, &NatsSession::on_complete, this);
        if (status != NATS_OK) complete();
        return judge(status);
    }

    Result<void> judge(natsStatus status) {
        if (status == NATS_OK) return {};
        lost_ = true;
        return fail(status == NATS_TIMEOUT ? Errc::timeout : Errc::unavailable, said(status));
    }

    void complete() {
        const std::lock_guard lock(mutex_);
        --callbacks_;
        done_.notify_all();
    }

    void heard(bool start, natsMsg* message) const {
        const MessageHandle owned(message);
        if (natsMsg_IsNoResponders(message)) return;  // nobody listens to greetings
        listener_.heard({start, {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))}});
    }

    static void on_start(natsConnection* /*connection*/, natsSubscription* /*sub*/, natsMsg* message, void* self) {
        static_cast<NatsSession*>(self)->heard(true, message);
    }
    static void on_greeted(natsConnection* /*connection*/, natsSubscription* /*sub*/, natsMsg* message, void* self) {
        static_cast<NatsSession*>(self)->heard(false, message);
    }
    static natsStatus on_nonce(char** /*problem*/, unsigned char** signature, int* size, const char* nonce,
                               void* self) {
        return nats_Sign(static_cast<NatsSession*>(self)->nkey_.seed.c_str(), nonce, signature, size);
    }
    static void on_complete(void* self) { static_cast<NatsSession*>(self)->complete(); }
    static void on_closed(natsConnection* /*connection*/, void* closure) {
        auto* const self = static_cast<NatsSession*>(closure);
        self->lost_ = true;
        self->listener_.lost();
        self->complete();
    }
    // Without it libnats writes to standard error. What matters also closes the connection.
    static void on_error(natsConnection* /*connection*/, natsSubscription* /*sub*/, natsStatus /*status*/,
                         void* /*closure*/) {}

    const std::string start_, greet_;
    std::string inbox_;
    NKey nkey_;
    Listener listener_;
    ConnectionHandle connection_;
    SubscriptionHandle started_, greeted_;  // gone before the connection
    std::atomic<bool> lost_ = false;
    std::mutex mutex_;
    std::condition_variable done_;
    int callbacks_ = 0;  // that libnats will make once more
};

}  // namespace

std::string without_credentials(const std::string& url) {
    const auto scheme = url.find("://");
    const auto from = scheme == std::string::npos ? 0 : scheme + 3;
    const auto user = url.rfind('@');
    return user == std::string::npos || user < from ? url : url.substr(0, from) + url.substr(user + 1);
}

Result<std::unique_ptr<Session>> connect(const NatsOptions& options, const std::string& url, const std::string& prefix,
                                         Listener listener) {
    auto session = std::make_unique<NatsSession>(prefix, std::move(listener));
    if (auto opened = session->open(options, url); !opened) return fail(opened.error());
    return session;
}

}  // namespace fairlead::proxy::gorouter
