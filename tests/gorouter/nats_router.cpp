#include "gorouter/nats_router.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "base/random.h"

namespace fairlead::gorouter {

namespace {

constexpr int max_pending_bytes = 128 * 1024 * 1024;

MonotonicTime now() { return std::chrono::steady_clock::now(); }

void must(natsStatus status, const char* what) {
    if (status == NATS_OK) return;
    fmt::print(stderr, "{}: {}\n", what, natsStatus_GetText(status));
    std::exit(1);
}

}  // namespace

struct NatsRouter::Impl {
    explicit Impl(Options wanted) : options(std::move(wanted)), model(options.settings) {}

    void connect();
    void say_start();
    void prune();
    static void on_routes(natsConnection* connection, natsSubscription* sub, natsMsg* message, void* self);
    static void on_greet(natsConnection* connection, natsSubscription* sub, natsMsg* message, void* self);
    static void on_reconnected(natsConnection* connection, void* self);
    static void on_error(natsConnection* /*connection*/, natsSubscription* /*sub*/, natsStatus /*status*/,
                         void* /*self*/) {}

    Options options;
    SystemRandom random;
    mutable std::mutex mutex;
    RouterModel model;
    std::string id;
    std::function<void(std::string_view, std::string_view)> call;
    std::atomic<std::uint64_t> messages = 0;
    natsConnection* connection = nullptr;
    natsSubscription* routes = nullptr;
    natsSubscription* greetings = nullptr;
    std::condition_variable changed;
    bool stopping = false;
    std::thread pruner;
};

void NatsRouter::Impl::on_routes(natsConnection* /*connection*/, natsSubscription* /*sub*/, natsMsg* message,
                                 void* closure) {
    auto* const self = static_cast<Impl*>(closure);
    const std::string_view subject = natsMsg_GetSubject(message);
    const std::string_view body{natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
    if (subject.ends_with("register")) {
        if (self->options.slowness.count() > 0) std::this_thread::sleep_for(self->options.slowness);
        const std::lock_guard lock(self->mutex);
        if (self->call) self->call(subject, body);
        self->model.message(subject, body, now());
        ++self->messages;
    }
    natsMsg_Destroy(message);
}

void NatsRouter::Impl::on_greet(natsConnection* connection, natsSubscription* /*sub*/, natsMsg* message,
                                void* closure) {
    auto* const self = static_cast<Impl*>(closure);
    std::string hello;
    {
        const std::lock_guard lock(self->mutex);
        hello = self->model.hello(self->id);
    }
    if (natsMsg_GetReply(message) != nullptr) {
        natsConnection_PublishString(connection, natsMsg_GetReply(message), hello.c_str());
    }
    natsMsg_Destroy(message);
}

void NatsRouter::Impl::on_reconnected(natsConnection* /*connection*/, void* self) {
    static_cast<Impl*>(self)->say_start();
}

void NatsRouter::Impl::say_start() {
    std::string hello;
    {
        const std::lock_guard lock(mutex);
        hello = model.hello(id);
    }
    natsConnection_PublishString(connection, (options.prefix + ".start").c_str(), hello.c_str());
    natsConnection_FlushTimeout(connection, 5'000);
}

void NatsRouter::Impl::connect() {
    natsOptions* made = nullptr;
    must(natsOptions_Create(&made), "options");
    must(natsOptions_SetURL(made, options.url.c_str()), "url");
    if (!options.user.empty()) {
        must(natsOptions_SetUserInfo(made, options.user.c_str(), options.password.c_str()), "user");
    }
    if (!options.ca.empty()) {
        must(natsOptions_SetSecure(made, true), "tls");
        must(natsOptions_LoadCATrustedCertificates(made, options.ca.c_str()), "ca");
    }
    natsOptions_SetMaxReconnect(made, -1);
    natsOptions_SetReconnectWait(made, 50);
    natsOptions_SetReconnectJitter(made, 10, 10);
    natsOptions_SetReconnectedCB(made, &Impl::on_reconnected, this);
    natsOptions_SetErrorHandler(made, &Impl::on_error, nullptr);
    auto status = NATS_ERR;
    for (const auto deadline = now() + std::chrono::seconds(30); status != NATS_OK && now() < deadline;) {
        status = natsConnection_Connect(&connection, made);
        if (status != NATS_OK) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    natsOptions_Destroy(made);
    must(status, options.url.c_str());
    must(natsConnection_Subscribe(&greetings, connection, (options.prefix + ".greet").c_str(), &Impl::on_greet, this),
         "greet");
    must(natsConnection_Subscribe(&routes, connection, (options.prefix + ".*").c_str(), &Impl::on_routes, this),
         "routes");
    must(natsSubscription_SetPendingLimits(routes, options.max_pending, max_pending_bytes), "limits");
    natsConnection_FlushTimeout(connection, 5'000);
}

void NatsRouter::Impl::prune() {
    std::unique_lock lock(mutex);
    while (!stopping) {
        changed.wait_for(lock, options.prune_every);
        model.prune(now(), natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED);
    }
}

NatsRouter::NatsRouter(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {
    impl_->id = "0-" + make_uuid(impl_->random);
    impl_->connect();
    impl_->pruner = std::thread([this] { impl_->prune(); });
    impl_->say_start();
}

NatsRouter::~NatsRouter() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->stopping = true;
    }
    impl_->changed.notify_all();
    impl_->pruner.join();
    // Callbacks that are under way end before their subscriptions are drained.
    for (auto* const sub : {impl_->routes, impl_->greetings}) {
        natsSubscription_Drain(sub);
        natsSubscription_WaitForDrainCompletion(sub, 5'000);
        natsSubscription_Destroy(sub);
    }
    natsConnection_Close(impl_->connection);
    natsConnection_Destroy(impl_->connection);
}

void NatsRouter::restart() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->model.restart();
        impl_->id = "0-" + make_uuid(impl_->random);
    }
    impl_->say_start();
}

void NatsRouter::inject(std::string_view subject, std::string_view body) {
    const std::lock_guard lock(impl_->mutex);
    impl_->model.message(subject, body, now());
}

void NatsRouter::look(const std::function<void(const RouterModel&)>& at) const {
    const std::lock_guard lock(impl_->mutex);
    at(impl_->model);
}

std::size_t NatsRouter::names() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->model.table().size();
}

bool NatsRouter::holds(const std::string& name, const std::string& address) const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->model.holds(name, address);
}

std::uint64_t NatsRouter::dropped() const {
    std::int64_t dropped = 0;
    natsSubscription_GetDropped(impl_->routes, &dropped);
    return static_cast<std::uint64_t>(dropped);
}

std::uint64_t NatsRouter::messages() const { return impl_->messages; }

void NatsRouter::on_message(std::function<void(std::string_view, std::string_view)> call) {
    const std::lock_guard lock(impl_->mutex);
    impl_->call = std::move(call);
}

}  // namespace fairlead::gorouter
