#include "net/async_client.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/text.h"
#include "net/curl.h"

namespace fairlead::net {
namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr std::size_t max_head_bytes = 256UL * 1024;       // four times what our own server takes
constexpr std::chrono::milliseconds longest_wait{60'000};  // a wake ends it
constexpr long max_idle_connections = 100;                 // kept for the next call to the same place

std::string limit_text(std::chrono::milliseconds limit) {
    if (limit.count() % 1000 == 0) return fmt::format("{}s", limit.count() / 1000);
    return fmt::format("{}ms", limit.count());
}

// One call from start() to `done`. The client's thread owns it; other threads only set `cancelled`.
struct Live {
    AsyncClient::Call id = 0;
    AsyncRequest request;
    AsyncClient::Done done;
    std::atomic<bool> cancelled = false;

    // From here on: only while it is carried.
    curl::Easy easy;
    curl::List headers, connect_to;
    char reason[CURL_ERROR_SIZE] = "";
    Response response;
    std::size_t head_bytes = 0;
    Time last_heard{};
    bool stopped = false;  // who called has seen enough
    bool too_large = false;
    int socket_errno = 0;  // why there was no socket; curl does not keep it

    [[nodiscard]] long status() const {
        long status = 0;
        curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
        return status;
    }
    [[nodiscard]] Error error(Errc code, std::string why) const {
        return {code, request.connect_to.empty() ? request.url : request.connect_to, std::move(why)};
    }
};
using LivePtr = std::shared_ptr<Live>;

// Anything but `size` makes curl end the transfer.
std::size_t on_head(char* data, std::size_t, std::size_t size, void* context) {
    auto& live = *static_cast<Live*>(context);
    if (live.cancelled) return 0;
    live.last_heard = std::chrono::steady_clock::now();
    live.head_bytes += size;
    live.too_large = live.head_bytes > max_head_bytes;
    if (live.too_large) return 0;
    const std::string_view line{data, size};
    curl::read_head_line(line, live.response.headers);
    const bool ends_head = line == "\r\n" || line == "\n";
    live.stopped = ends_head && live.request.head_only && live.status() >= 200;
    if (ends_head && live.request.piece && live.status() == 200) live.stopped = !live.request.piece({}) || live.stopped;
    return live.stopped ? 0 : size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
    auto& live = *static_cast<Live*>(context);
    if (live.cancelled) return 0;
    live.last_heard = std::chrono::steady_clock::now();
    if (live.request.piece && live.status() == 200) {
        live.stopped = !live.request.piece({data, size});
        return live.stopped ? 0 : size;
    }
    live.too_large = live.response.body.size() + size > live.request.max_answer_bytes;
    if (live.too_large) return 0;
    live.response.body.append(data, size);
    return size;
}

curl_socket_t on_open_socket(void* context, curlsocktype, curl_sockaddr* address) {
    const int made = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (made < 0) static_cast<Live*>(context)->socket_errno = errno;
    return made < 0 ? CURL_SOCKET_BAD : made;
}

void set_options(Live& live) {
    CURL* easy = live.easy.get();
    const auto& request = live.request;
    curl::set_common(easy, request.url, live.headers, live.reason);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "fairlead");  // a User-Agent among the headers replaces it
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &live);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &live);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &live);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &live);
    // A call that ends while its host name is looked up must not wait for that: all the others would.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    if (live.connect_to) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, live.connect_to.get());
    if (request.connect_only) curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    if (request.fresh_connection) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
        curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    }
    curl::set_method(easy, request.method, request.body);
    if (request.tls) {
        const auto& tls = *request.tls;
        curl::set_tls(easy, {tls.ca_pem, tls.certificate_pem, tls.key_pem, tls.insecure_skip_verify});
    }
}

Result<void> prepare(Live& live) {
    auto headers = curl::make_headers(live.request.headers);
    if (!headers) return fail(headers.error());
    live.headers = std::move(*headers);
    // "HOST:PORT:TO-HOST:TO-PORT", where the first two left empty mean any.
    if (!live.request.connect_to.empty() && !curl::append(live.connect_to, "::" + live.request.connect_to)) {
        return fail(Errc::internal, "out of memory");
    }
    live.easy.reset(curl_easy_init());
    if (!live.easy) return fail(Errc::internal, "libcurl cannot be initialised");
    set_options(live);
    return {};
}

// curl says only that one of the two limits has passed; the time it took says which.
Error timeout_error(const Live& live) {
    const auto& request = live.request;
    curl_off_t micros = 0;
    curl_easy_getinfo(live.easy.get(), CURLINFO_TOTAL_TIME_T, &micros);
    const auto between = (request.connect_timeout + request.timeout) / 2;
    const bool connect_limit = request.timeout.count() == 0 || (request.connect_timeout < request.timeout &&
                                                                std::chrono::microseconds{micros} < between);
    return connect_limit ? live.error(Errc::timeout, "no connection within " + limit_text(request.connect_timeout))
                         : live.error(Errc::timeout, "no answer within " + limit_text(request.timeout));
}

// What this machine is short of, if that is why the call failed: whoever was called has nothing to do with it.
std::optional<Error> shortage(const Live& live, CURLcode code) {
    if (code == CURLE_OUT_OF_MEMORY) return live.error(Errc::internal, "out of memory");
    if (code != CURLE_COULDNT_CONNECT) return std::nullopt;
    long number = live.socket_errno;
    if (number == 0) curl_easy_getinfo(live.easy.get(), CURLINFO_OS_ERRNO, &number);
    constexpr std::array<long, 5> ours{EMFILE, ENFILE, ENOMEM, ENOBUFS, EADDRNOTAVAIL};
    if (std::find(ours.begin(), ours.end(), number) == ours.end()) return std::nullopt;
    return live.error(Errc::internal, lower(std::generic_category().message(static_cast<int>(number))));
}

Result<Response> outcome(Live& live, CURLcode code) {
    if (live.cancelled) return fail(live.error(Errc::unavailable, "the call was cancelled"));
    if (live.too_large) {
        const bool head = live.head_bytes > max_head_bytes;
        return fail(live.error(Errc::too_large,
                               fmt::format("the {} exceeds the limit of {} bytes", head ? "answer's head" : "answer",
                                           head ? max_head_bytes : live.request.max_answer_bytes)));
    }
    if (code == CURLE_OPERATION_TIMEDOUT) return fail(timeout_error(live));
    if (auto ours = shortage(live, code)) return fail(std::move(*ours));
    if (code != CURLE_OK && !live.stopped) {
        auto why = curl::failure(live.easy.get(), code, live.reason);
        return fail(live.error(why.code, std::move(why.message)));
    }
    live.response.status = static_cast<int>(live.status());
    return std::move(live.response);
}

}  // namespace

struct AsyncClient::Impl {
    explicit Impl(std::size_t max) : max_connections(std::max<std::size_t>(max, 1)), multi(curl_multi_init()) {
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, max_idle_connections);
    }
    ~Impl() { curl_multi_cleanup(multi); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void run();
    bool take();
    void begin_waiting();
    void finish(const LivePtr& live, Result<Response> result);
    void finish_ended();
    void finish_cancelled();
    void finish_silent();
    void drop_all();

    const std::size_t max_connections;
    CURLM* multi;

    std::mutex mutex;
    Call last_id = 0;
    std::map<Call, LivePtr> calls;  // all that are not over
    std::deque<LivePtr> arrived;
    bool any_cancelled = false;
    bool stopping = false;

    // Only the thread's.
    std::deque<LivePtr> waiting;
    std::map<Call, LivePtr> carried;
    Time next_silence_check = Time::max();
    std::thread thread;
};

// False: it is over.
bool AsyncClient::Impl::take() {
    bool look_for_cancelled = false;
    {
        const std::lock_guard lock(mutex);
        if (stopping) return false;
        waiting.insert(waiting.end(), std::make_move_iterator(arrived.begin()), std::make_move_iterator(arrived.end()));
        arrived.clear();
        look_for_cancelled = std::exchange(any_cancelled, false);
    }
    if (look_for_cancelled) finish_cancelled();
    return true;
}

void AsyncClient::Impl::begin_waiting() {
    while (!waiting.empty() && carried.size() < max_connections) {
        const auto live = std::move(waiting.front());
        waiting.pop_front();
        if (const auto ready = prepare(*live); !ready) {
            finish(live, fail(ready.error()));
            continue;
        }
        if (curl_multi_add_handle(multi, live->easy.get()) != CURLM_OK) {
            finish(live, fail(Errc::internal, "libcurl does not take another call"));
            continue;
        }
        live->last_heard = std::chrono::steady_clock::now();
        if (live->request.silence.count() > 0) {
            next_silence_check = std::min(next_silence_check, live->last_heard + live->request.silence);
        }
        carried.emplace(live->id, live);
    }
}

// Not with the lock held: `done` may start and cancel calls.
void AsyncClient::Impl::finish(const LivePtr& live, Result<Response> result) {
    if (carried.erase(live->id) > 0) curl_multi_remove_handle(multi, live->easy.get());
    {
        const std::lock_guard lock(mutex);
        if (stopping) return;
        calls.erase(live->id);
    }
    if (live->done) live->done(std::move(result));
}

void AsyncClient::Impl::finish_ended() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;
        Live* ended = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &ended);
        const auto live = carried.at(ended->id);
        finish(live, outcome(*live, code));
    }
}

void AsyncClient::Impl::finish_cancelled() {
    std::vector<LivePtr> gone;
    for (const auto& [id, live] : carried) {
        if (live->cancelled) gone.push_back(live);
    }
    const auto first =
        std::stable_partition(waiting.begin(), waiting.end(), [](const LivePtr& live) { return !live->cancelled; });
    gone.insert(gone.end(), first, waiting.end());
    waiting.erase(first, waiting.end());
    for (const auto& live : gone) finish(live, outcome(*live, CURLE_OK));
}

// What is heard only moves a call's deadline away, so nobody needs to be looked at before the earliest one.
void AsyncClient::Impl::finish_silent() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_silence_check) return;
    next_silence_check = Time::max();
    std::vector<LivePtr> silent;
    for (const auto& [id, live] : carried) {
        if (live->request.silence.count() == 0) continue;
        const auto deadline = live->last_heard + live->request.silence;
        if (deadline <= now) {
            silent.push_back(live);
        } else {
            next_silence_check = std::min(next_silence_check, deadline);
        }
    }
    for (const auto& live : silent) {
        finish(live, fail(live->error(Errc::timeout, "nothing came for " + limit_text(live->request.silence))));
    }
}

void AsyncClient::Impl::run() {
    while (take()) {
        begin_waiting();
        int running = 0;
        curl_multi_perform(multi, &running);
        finish_ended();
        finish_silent();
        if (!waiting.empty() && carried.size() < max_connections) continue;
        auto wait = longest_wait;
        if (next_silence_check != Time::max()) {
            const auto left = next_silence_check - std::chrono::steady_clock::now();
            wait = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{0}, wait);
        }
        curl_multi_poll(multi, nullptr, 0, static_cast<int>(wait.count()), nullptr);
    }
    drop_all();
}

void AsyncClient::Impl::drop_all() {
    for (const auto& [id, live] : carried) curl_multi_remove_handle(multi, live->easy.get());
    carried.clear();
    waiting.clear();
    std::map<Call, LivePtr> dropped;  // destroyed without the lock: what they hold may be anything
    std::deque<LivePtr> never_taken;
    const std::lock_guard lock(mutex);
    dropped.swap(calls);
    never_taken.swap(arrived);
}

AsyncClient::AsyncClient(std::size_t max_connections) : impl_(std::make_unique<Impl>(max_connections)) {
    impl_->thread = std::thread([this] { impl_->run(); });
}

AsyncClient::~AsyncClient() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->stopping = true;
    }
    curl_multi_wakeup(impl_->multi);
    impl_->thread.join();
}

AsyncClient::Call AsyncClient::start(AsyncRequest request, Done done) {
    auto live = std::make_shared<Live>();
    live->request = std::move(request);
    live->done = std::move(done);
    Call id = 0;
    {
        const std::lock_guard lock(impl_->mutex);
        id = ++impl_->last_id;
        live->id = id;
        impl_->calls.emplace(id, live);
        impl_->arrived.push_back(std::move(live));
    }
    curl_multi_wakeup(impl_->multi);
    return id;
}

void AsyncClient::cancel(Call call) {
    {
        const std::lock_guard lock(impl_->mutex);
        const auto found = impl_->calls.find(call);
        if (found == impl_->calls.end()) return;
        found->second->cancelled = true;
        impl_->any_cancelled = true;
    }
    curl_multi_wakeup(impl_->multi);
}

}  // namespace fairlead::net
