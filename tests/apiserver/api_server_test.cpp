// The server as the HTTP layer sees it: routing, negotiation, authentication, overload, drain, and the plain endpoints.
#include "apiserver/api_server.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>

#include "apiserver/answer.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "world.h"

namespace fairlead::apiserver {
namespace {

class Server {
public:
    explicit Server(ApiOptions options = allow_all())
        : api(std::move(options), kinds, *store, clock, random, log, metrics) {}

    static ApiOptions allow_all() {
        ApiOptions options;
        options.workers = 4;
        options.insecure_allow_all = true;
        return options;
    }

    std::future<net::Response> start(net::Request request) {
        auto promise = std::make_shared<std::promise<net::Response>>();
        auto future = promise->get_future();
        request.id = "request-1";
        api.handle(std::move(request), [promise](net::Response response) { promise->set_value(std::move(response)); });
        return future;
    }
    net::Response send(std::string method, std::string target, net::Headers headers = {}, std::string body = {}) {
        net::Request request;
        request.method = std::move(method);
        request.target = std::move(target);
        request.headers = std::move(headers);
        request.body = std::move(body);
        return start(std::move(request)).get();
    }
    net::Response get(std::string target, net::Headers headers = {}) {
        return send("GET", std::move(target), std::move(headers));
    }

    const SystemClock clock;
    SeededRandom random{1};
    std::unique_ptr<store::Store> store = store::make_memory_store();
    const resource::Kinds kinds = example_kinds();
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    ApiServer api;
};

std::string route_body(std::string_view name) {
    return R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":")" + std::string(name) +
           R"("},"spec":{"host":"h"}})";
}
const std::string list_path(World::routes);

struct RouteRow {
    const char* name;
    const char* method;
    const char* target;
    int code;
    const char* body;  // the answer holds this
};

class Routing : public testing::TestWithParam<RouteRow> {};

TEST_P(Routing, Answers) {
    Server server;
    const auto& row = GetParam();
    const auto response = server.send(row.method, row.target);
    EXPECT_EQ(response.status, row.code) << response.body;
    EXPECT_THAT(response.body, testing::HasSubstr(row.body));
    EXPECT_EQ(response.headers.get("X-Request-Id"), "request-1");
}

INSTANTIATE_TEST_SUITE_P(
    All, Routing,
    testing::Values(
        RouteRow{"versions", "GET", "/api", 200, R"("versions":["v1"])"},
        RouteRow{"groups", "GET", "/apis?timeout=32s", 200, R"("name":"route.openshift.io")"},
        RouteRow{"receptor", "GET", "/v1/desired_lrps?limit=x", 200, "[]"},
        RouteRow{"receptor_error", "POST", "/v1/desired_lrps", 400, R"({"name":"InvalidJSON","message":)"},
        RouteRow{"receptor_unknown", "GET", "/v1/nothing", 404, R"({"name":"InvalidRequest","message":)"},
        RouteRow{"receptor_method", "PATCH", "/v1/desired_lrps", 405, R"({"name":"InvalidRequest","message":)"},
        RouteRow{"group", "GET", "/apis/fairlead.dev", 200,
                 R"("preferredVersion":{"groupVersion":"fairlead.dev/v1","version":"v1"})"},
        RouteRow{"core_resources", "GET", "/api/v1", 200, R"("name":"namespaces/finalize")"},
        RouteRow{
            "create_only", "GET", "/apis/fairlead.dev/v1", 200,
            R"({"name":"routebindings","singularName":"routebinding","namespaced":true,"kind":"RouteBinding","verbs":["create","patch"])"},
        RouteRow{"reviews", "GET", "/apis/authorization.k8s.io/v1", 200, R"("name":"selfsubjectaccessreviews")"},
        RouteRow{"unknown_group", "GET", "/apis/none", 404, "404 page not found"},
        RouteRow{"unknown_version", "GET", "/apis/fairlead.dev/v9", 404, "404 page not found"},
        RouteRow{"unknown_resource", "GET", "/api/v1/pods", 404, "404 page not found"},
        RouteRow{"unknown_path", "GET", "/favicon.ico", 404, "404 page not found"},
        RouteRow{"hostile_path", "GET", "/api/v1/namespaces/default%2Fsecrets", 404, "404 page not found"},
        RouteRow{"unknown_subresource", "GET", "/api/v1/namespaces/default/secrets/x/scale", 404, "404 page not found"},
        RouteRow{"namespaced_without_namespace", "GET", "/api/v1/secrets/x", 404, "404 page not found"},
        RouteRow{"cluster_kind_in_namespace", "GET", "/apis/fairlead.dev/v1/namespaces/default/routers", 404,
                 "404 page not found"},
        RouteRow{"version", "GET", "/version?timeout=32s", 200, R"("gitVersion":"v1.26.0+fairlead.0.1.0")"},
        RouteRow{"root", "GET", "/", 200, R"("/openapi/v2")"},
        RouteRow{"create_everywhere", "POST", "/api/v1/secrets", 405,
                 "the server does not allow this method on the requested resource"},
        RouteRow{"post_to_object", "POST", "/api/v1/namespaces/default", 405, "MethodNotAllowed"},
        RouteRow{"get_of_create_only", "GET", "/apis/fairlead.dev/v1/routebindings", 405, "MethodNotAllowed"},
        RouteRow{"patch_of_finalize", "PATCH", "/api/v1/namespaces/default/finalize", 405, "MethodNotAllowed"},
        RouteRow{"bad_query", "GET", "/api/v1/namespaces?limit=x", 400, R"(limit: \"x\" is not a whole number)"},
        RouteRow{"one", "GET", "/api/v1/namespaces/default", 200, R"("name":"default")"},
        RouteRow{"one_at_revision", "GET", "/api/v1/namespaces/default?resourceVersion=1", 200, R"("name":"default")"},
        RouteRow{"list", "GET", "/api/v1/namespaces", 200, R"("kind":"NamespaceList")"},
        RouteRow{"livez", "GET", "/livez", 200, "ok"},
        RouteRow{"readyz", "GET", "/readyz?verbose", 200, "[+]store ok\n"},
        RouteRow{"readyz_one", "GET", "/readyz/store", 200, "ok"},
        RouteRow{"readyz_exclude", "GET", "/readyz?verbose&exclude=store", 200, "[+]store excluded: ok\n"},
        RouteRow{"readyz_no_such_check", "GET", "/readyz/none", 404, "404 page not found"},
        RouteRow{"healthz", "GET", "/healthz", 200, "ok"}),
    [](const auto& row) { return row.param.name; });

TEST(Negotiation, ChoosesTheFirstFormItCanServe) {
    struct Row {
        const char* accept;
        int code;
        const char* content_type;
        const char* body;
    };
    const Row rows[] = {
        {"", 200, "application/json", R"({"apiVersion":"v1","kind":"Namespace")"},
        {"*/*", 200, "application/json", R"({"apiVersion":"v1")"},
        {"application/*", 200, "application/json", R"({"apiVersion":"v1")"},
        {"application/json, */*", 200, "application/json", R"({"apiVersion":"v1")"},
        {"application/json;q=0.9", 200, "application/json", R"({"apiVersion":"v1")"},
        {"application/vnd.kubernetes.protobuf,application/json", 200, "application/json", R"({"apiVersion":"v1")"},
        {"application/yaml", 200, "application/yaml", "apiVersion: v1\n"},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", 200, "application/json",
         R"({"kind":"Table")"},
        {"application/json;as=Table;v=v1beta1;g=meta.k8s.io", 200, "application/json",
         R"("apiVersion":"meta.k8s.io/v1beta1")"},
        {"application/json;as=Table;v=v9;g=meta.k8s.io,application/json", 200, "application/json",
         R"({"apiVersion":"v1")"},
        {"application/json;as=Table;v=v9;g=meta.k8s.io", 406, "application/json", "NotAcceptable"},
        {"application/vnd.kubernetes.protobuf", 406, "application/json",
         "only the following media types are accepted: application/json, application/yaml"},
        {"text/html", 406, "application/json", "NotAcceptable"},
    };
    Server server;
    for (const auto& row : rows) {
        const auto response = server.get("/api/v1/namespaces/default", {{"Accept", row.accept}});
        EXPECT_EQ(response.status, row.code) << row.accept << response.body;
        EXPECT_EQ(response.headers.get("Content-Type"), row.content_type) << row.accept;
        EXPECT_THAT(response.body, testing::HasSubstr(row.body)) << row.accept;
    }
    EXPECT_THAT(server.get("/api/v1/namespaces/default?pretty=true").body,
                testing::HasSubstr("\n  \"kind\": \"Namespace\""));
}

TEST(Warnings, StandInTheHeader) {
    Server server;
    const auto response = server.send(
        "POST", list_path, {},
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a"},"spec":{"host":"h","zzz":1}})");
    EXPECT_EQ(response.status, 201) << response.body;
    EXPECT_EQ(response.headers.get("Warning"), R"(299 - "unknown field \"spec.zzz\"")");
}

TEST(Authentication, StrangersGetHealthAndVersionOnly) {
    ApiOptions options;
    options.workers = 2;
    Server server(options);
    for (const auto* open : {"/livez", "/readyz", "/healthz", "/version", "/livez/ping"}) {
        EXPECT_EQ(server.get(open).status, 200) << open;
    }
    for (const auto* closed : {"/api", "/apis", "/api/v1", "/api/v1/namespaces", "/metrics", "/openapi/v2", "/none",
                               "/versions", "/livezz", "/", "/api/v1/namespaces?limit=x"}) {
        const auto response = server.get(closed);
        EXPECT_EQ(response.status, 401) << closed;
        EXPECT_THAT(response.body, testing::HasSubstr(R"("message":"Unauthorized","reason":"Unauthorized")"));
    }
    net::Request request;
    request.method = "GET";
    request.target = "/api/v1/namespaces/default";
    request.peer.certificate_name = "admin";
    EXPECT_EQ(server.start(request).get().status, 403) << "a name alone gives nothing";
    request.peer.certificate_groups = {"system:masters"};
    EXPECT_EQ(server.start(request).get().status, 200);
}

TEST(AccessReview, TheAdminMayDoEverything) {
    Server server;
    const auto can =
        server.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {},
                    R"({"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},
                                     "spec":{"resourceAttributes":{"namespace":"default","verb":"create","resource":"secrets"}}})");
    EXPECT_EQ(can.status, 201);
    EXPECT_THAT(can.body, testing::HasSubstr(R"("status":{"allowed":true,"reason":"member of system:masters"})"));
    const auto list = server.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {},
                                  R"({"spec":{"namespace":"default"}})");
    EXPECT_EQ(list.status, 201);
    EXPECT_THAT(list.body, testing::HasSubstr(R"("incomplete":false)"));
    EXPECT_EQ(server.get("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews").status, 405);
}

TEST(OpenApi, HasTheFormsThatClientsAskFor) {
    Server server;
    const auto json_form = server.get("/openapi/v2");
    EXPECT_EQ(json_form.status, 200);
    EXPECT_EQ(json_form.headers.get("Content-Type"), "application/json");
    EXPECT_THAT(json_form.body, testing::StartsWith("{"));
    const auto protobuf =
        server.get("/openapi/v2", {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
    EXPECT_EQ(protobuf.headers.get("Content-Type"), "application/octet-stream");
    EXPECT_NE(protobuf.headers.get("ETag"), json_form.headers.get("ETag"));
    EXPECT_EQ(protobuf.headers.get("Vary"), "Accept");
    const auto same = server.get("/openapi/v2", {{"If-None-Match", std::string(json_form.headers.get("ETag"))}});
    EXPECT_EQ(same.status, 304);
    EXPECT_TRUE(same.body.empty());
    const auto index = server.get("/openapi/v3");
    EXPECT_THAT(index.body, testing::HasSubstr(R"("api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=)"));
    EXPECT_EQ(server.get("/openapi/v3/api/v1?hash=abc").status, 200);
    EXPECT_EQ(server.get("/openapi/v3/api/v9").status, 404);
}

TEST(MetricsPage, CountsRequestsUnderTheirWellKnownNames) {
    Server server;
    server.get("/api/v1/namespaces/default");
    const auto page = server.get("/metrics").body;
    EXPECT_THAT(page, testing::HasSubstr("apiserver_request_duration_seconds_bucket"));
    EXPECT_THAT(page, testing::HasSubstr("apiserver_current_inflight_requests{request_kind=\"readOnly\"} 1"));
    EXPECT_THAT(page,
                testing::ContainsRegex(
                    "apiserver_request_total\\{code=\"200\",group=\"\",resource=\"namespaces\",scope=\"resource\","
                    "subresource=\"\",verb=\"GET\",version=\"v1\"\\} 1"));
}

TEST(HealthChecks, FailWithTheirReasonForThoseWhoMayKnow) {
    Server server;
    server.api.add_ready_check("dns", [] { return std::optional<std::string>("no socket"); });
    const auto response = server.get("/readyz");
    EXPECT_EQ(response.status, 500);
    EXPECT_THAT(response.body, testing::HasSubstr("[-]dns failed: no socket\n"));
    EXPECT_EQ(server.get("/livez").status, 200);

    ApiOptions closed;
    closed.workers = 1;
    Server strangers(closed);
    strangers.api.add_ready_check("dns", [] { return std::optional<std::string>("no socket"); });
    EXPECT_THAT(strangers.get("/readyz").body, testing::HasSubstr("[-]dns failed: reason withheld\n"));
}

// A store that holds back commits until it is told to go on.
class SlowStore final : public store::Store {
public:
    void commit(std::vector<store::Op> ops, store::Completion done) override {
        std::unique_lock lock(mutex_);
        if (!held_) {
            lock.unlock();
            return inner_->commit(std::move(ops), std::move(done));
        }
        waiting_.push_back([this, ops = std::move(ops), done = std::move(done)] { inner_->commit(ops, done); });
        arrived_.notify_all();
    }
    store::Revision revision() const override { return inner_->revision(); }
    Result<store::Snapshot> snapshot(std::string_view table, std::optional<store::Revision> at) override {
        return inner_->snapshot(table, at);
    }
    Result<store::ObjectRef> get(const store::Key& key) override { return inner_->get(key); }
    Result<std::unique_ptr<store::Cursor>> watch(std::string_view table, store::Revision after) override {
        return inner_->watch(table, after);
    }
    std::unique_ptr<store::Subscription> subscribe(std::string_view table, std::function<void()> wake) override {
        return inner_->subscribe(table, std::move(wake));
    }
    store::Revision oldest(std::string_view table) const override { return inner_->oldest(table); }
    std::optional<Error> health() const override { return Error{Errc::unavailable, {}, "disk is slow"}; }

    void hold() {
        const std::lock_guard lock(mutex_);
        held_ = true;
    }
    void wait_for(std::size_t commits) {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [&] { return waiting_.size() >= commits; });
    }
    void release() {
        std::deque<std::function<void()>> work;
        {
            const std::lock_guard lock(mutex_);
            held_ = false;
            work.swap(waiting_);
        }
        for (auto& job : work) job();
    }

private:
    std::unique_ptr<store::Store> inner_ = store::make_memory_store();
    std::mutex mutex_;
    std::condition_variable arrived_;
    bool held_ = false;
    std::deque<std::function<void()>> waiting_;
};

TEST(Overload, IsRefusedAtTheDoorAndReadsGoOn) {
    SlowStore store;
    const resource::Kinds kinds = example_kinds();
    const SystemClock clock;
    SeededRandom random(1);
    Log log(LogLevel::error, LogFormat::text);
    Metrics metrics;
    ApiOptions options = Server::allow_all();
    options.workers = 1;
    options.max_waiting = 1;
    ApiServer api(options, kinds, store, clock, random, log, metrics);
    store.hold();
    const auto create = [&](std::string_view name) {
        auto promise = std::make_shared<std::promise<net::Response>>();
        net::Request request;
        request.method = "POST";
        request.target = list_path;
        request.body = route_body(name);
        api.handle(std::move(request), [promise](net::Response r) { promise->set_value(std::move(r)); });
        return promise->get_future();
    };
    auto working = create("a");
    store.wait_for(1);  // the only worker is busy now
    auto waiting = create("b");
    const auto refused = create("c").get();
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.headers.get("Retry-After"), "1");
    EXPECT_THAT(refused.body, testing::HasSubstr(R"("reason":"TooManyRequests")"));

    net::Request request;
    request.method = "GET";
    request.target = "/v1/domains";
    std::promise<net::Response> other_words;
    api.handle(request, [&](net::Response r) { other_words.set_value(std::move(r)); });
    const auto in_its_form = other_words.get_future().get();
    EXPECT_EQ(in_its_form.status, 429);
    EXPECT_EQ(in_its_form.headers.get("Retry-After"), "1");
    EXPECT_THAT(in_its_form.body, testing::StartsWith(R"({"name":"UnknownError","message":"too many)"));

    std::promise<net::Response> read;
    request.target = "/api/v1/namespaces/default";
    api.handle(request, [&](net::Response r) { read.set_value(std::move(r)); });
    EXPECT_EQ(read.get_future().get().status, 200) << "reads of one object do not wait behind writes";
    request.target = "/readyz";
    std::promise<net::Response> ready;
    api.handle(request, [&](net::Response r) { ready.set_value(std::move(r)); });
    EXPECT_EQ(ready.get_future().get().status, 500) << "the store's own trouble shows in readiness";
    store.release();
    EXPECT_EQ(working.get().status, 201);
    EXPECT_EQ(waiting.get().status, 201);
}

// Pulls a stream as a session does: on wake-ups.
class Reader {
public:
    explicit Reader(net::Response response) : stream_(std::move(response.stream)) {
        stream_->start([this] {
            const std::lock_guard lock(mutex_);
            woken_ = true;
            changed_.notify_all();
        });
    }
    // Reads until the text holds `part` or the stream ends.
    bool read_until(std::string_view part) {
        for (;;) {
            const auto next = stream_->pull(text);
            if (next == net::StreamBody::Next::end) {
                ended = true;
                return part.empty() || text.find(part) != std::string::npos;
            }
            if (!part.empty() && text.find(part) != std::string::npos) return true;
            if (next == net::StreamBody::Next::data) continue;
            std::unique_lock lock(mutex_);
            if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return woken_; })) return false;
            woken_ = false;
        }
    }
    std::string text;
    bool ended = false;

private:
    std::unique_ptr<net::StreamBody> stream_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
};

TEST(LiveWatch, IsWokenByCommitsDeadlinesAndDrain) {
    auto options = Server::allow_all();
    options.bookmark_interval = std::chrono::seconds(1);
    Server server(options);
    Reader all(server.get("/apis/traffic.example.io/v1/routes?watch=true"));
    Reader here(server.get(list_path + "?watch=true&allowWatchBookmarks=true"));
    Reader elsewhere(server.get("/apis/traffic.example.io/v1/namespaces/other/routes?watch=true"));
    Reader brief(server.get(list_path + "?watch=true&timeoutSeconds=1"));
    EXPECT_THAT(
        server.get("/metrics").body,
        testing::HasSubstr("apiserver_longrunning_requests{group=\"traffic.example.io\",resource=\"routes\",scope="
                           "\"namespace\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 3"));
    for (int i = 0; i < 3; ++i) {
        const auto name = "r" + std::to_string(i);
        EXPECT_EQ(server.send("POST", list_path, {}, route_body(name)).status, 201);
        EXPECT_TRUE(all.read_until("\"name\":\"" + name + "\""));
        EXPECT_TRUE(here.read_until("\"name\":\"" + name + "\""));
    }
    EXPECT_TRUE(here.read_until("BOOKMARK"));
    EXPECT_TRUE(brief.read_until(""));
    EXPECT_TRUE(brief.ended);
    server.api.drain();
    for (auto* reader : {&all, &here, &elsewhere}) {
        EXPECT_TRUE(reader->read_until(""));
        EXPECT_TRUE(reader->ended);
    }
    EXPECT_EQ(server.get("/readyz").status, 500);
    EXPECT_EQ(server.get("/livez").status, 200);
    const auto refused = server.get("/api/v1/namespaces");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.headers.get("Retry-After"), "1");
}

TEST(LiveWatch, TooManyAreRefused) {
    auto options = Server::allow_all();
    options.max_watches = 1;
    Server server(options);
    auto first = server.get("/api/v1/namespaces?watch=true");
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(server.get("/api/v1/namespaces?watch=true").status, 429);
    first.stream.reset();
    EXPECT_EQ(server.get("/api/v1/namespaces?watch=true").status, 200) << "a watch that ended makes room";
}

TEST(Concurrency, NoUpdateIsLostAndEveryWatcherSeesThemInOrder) {
    Server server;
    ASSERT_EQ(server.send("POST", list_path, {}, route_body("a")).status, 201);
    Reader watcher(server.get(list_path + "?watch=true"));
    constexpr int writers = 8;
    constexpr int each = 25;
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&] {
            for (int done = 0; done < each;) {
                auto object = *json::parse(server.get(list_path + "/a").body);
                const auto count = json::string_at(object, "metadata.annotations.count");
                json::set_at(object, "metadata.annotations",
                             json::Object{{"count", std::to_string(count.empty() ? 1 : *parse_int(count) + 1)}});
                const auto response = server.send("PUT", list_path + "/a", {}, json::serialize(object));
                if (response.status == 200)
                    ++done;
                else
                    ASSERT_EQ(response.status, 409) << response.body;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    const auto last = *json::parse(server.get(list_path + "/a").body);
    EXPECT_EQ(json::string_at(last, "metadata.annotations.count"), std::to_string(writers * each));
    ASSERT_TRUE(watcher.read_until("\"count\":\"" + std::to_string(writers * each) + "\""));
    std::size_t at = 0;
    for (int i = 1; i <= writers * each; ++i) {
        at = watcher.text.find("\"count\":\"" + std::to_string(i) + "\"", at);
        ASSERT_NE(at, std::string::npos) << "event " << i << " is missing or out of order";
    }
}

TEST(Concurrency, PatchesWithoutARevisionAreRetried) {
    Server server;
    ASSERT_EQ(server.send("POST", list_path, {}, route_body("a")).status, 201);
    std::vector<std::thread> threads;
    std::atomic<int> conflicts{0};
    for (int writer = 0; writer < 4; ++writer) {
        threads.emplace_back([&, writer] {
            for (int i = 0; i < 25; ++i) {
                const auto patch = R"({"metadata":{"annotations":{"w)" + std::to_string(writer) + R"(":")" +
                                   std::to_string(i) + "\"}}}";
                net::Response response;
                do {
                    response = server.send("PATCH", list_path + "/a",
                                           {{"Content-Type", "application/merge-patch+json"}}, patch);
                    if (response.status == 409) ++conflicts;
                } while (response.status == 409);
                ASSERT_EQ(response.status, 200) << response.body;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    const auto last = *json::parse(server.get(list_path + "/a").body);
    for (int writer = 0; writer < 4; ++writer) {
        EXPECT_EQ(json::string_at(last, "metadata.annotations.w" + std::to_string(writer)), "24");
    }
    EXPECT_LT(conflicts, 50) << "the server itself retries most of them";
}

TEST(Concurrency, NothingIsMadeInANamespaceThatIsDeleted) {
    Server server;
    ASSERT_EQ(server.send("POST", "/api/v1/namespaces", {}, R"({"metadata":{"name":"n"}})").status, 201);
    std::vector<std::thread> threads;
    for (int writer = 0; writer < 4; ++writer) {
        threads.emplace_back([&, writer] {
            for (int i = 0;; ++i) {
                const auto response = server.send("POST", "/apis/traffic.example.io/v1/namespaces/n/routes", {},
                                                  route_body("r" + std::to_string(writer) + "-" + std::to_string(i)));
                if (response.status == 403) return;
                ASSERT_EQ(response.status, 201) << response.body;
            }
        });
    }
    while (server.store->revision() < 50) std::this_thread::yield();
    const auto marked = server.send("DELETE", "/api/v1/namespaces/n");
    EXPECT_EQ(marked.status, 200);
    const auto end = parse_int(json::string_at(*json::parse(marked.body), "metadata.resourceVersion"));
    for (auto& thread : threads) thread.join();
    const auto list = *json::parse(server.get("/apis/traffic.example.io/v1/routes").body);
    for (const auto& item : list.at("items").as_array()) {
        const auto made = parse_int(json::string_at(item, "metadata.resourceVersion"));
        EXPECT_LT(*made, *end) << json::string_at(item, "metadata.name") << " was made after the mark";
    }
}

TEST(ErrorResponse, WordsTheHttpLayersRefusals) {
    const auto response = ApiServer::error_response(413, "too large");
    EXPECT_EQ(response.status, 413);
    EXPECT_EQ(
        response.body,
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413})");
    EXPECT_EQ(ApiServer::error_response(400, "bad").status, 400);
    const auto receptor = ApiServer::error_response(413, "too large", "/v1/actual_lrps/bulk");
    EXPECT_EQ(receptor.status, 413);
    EXPECT_EQ(receptor.body, R"({"name":"InvalidRequest","message":"Request entity too large: limit is 3145728"})");
    EXPECT_EQ(ApiServer::error_response(503, "later").headers.get("Retry-After"), "1");
}

TEST(ApiServer, ServesEndpointsThatOthersBring) {
    Server server;
    const auto echo = [](const EndpointRequest& request) -> Result<net::Response> {
        const auto fails = request.parameters.find("fail");
        if (fails != request.parameters.end()) return fail(Errc::not_found, fails->second);
        net::Response response;
        response.body = request.path;
        for (const auto& [name, value] : request.parameters) response.body += " " + name + "=" + value;
        return response;
    };
    server.api.add_endpoint("/dns/explain", echo);
    server.api.add_endpoint("/dns/zones/", echo);
    EXPECT_EQ(server.get("/dns/explain?name=a.b&from=DE&name=c").body, "/dns/explain from=DE name=a.b");
    EXPECT_EQ(server.get("/dns/zones/example.com/export").body, "/dns/zones/example.com/export");
    EXPECT_EQ(server.get("/dns/zones/example.com").body, "/dns/zones/example.com");
    const auto refused = server.get("/dns/explain?fail=no+such+thing");
    EXPECT_EQ(refused.status, 404);
    EXPECT_THAT(refused.body, testing::HasSubstr(R"("message":"no such thing","reason":"NotFound")"));
    EXPECT_EQ(server.get("/dns/explain?name=%zz").status, 400);
    for (const auto* path : {"/dns", "/dns/", "/dns/explain/more", "/dns/explainer", "/dns/zonesandmore/x"}) {
        EXPECT_EQ(server.get(path).status, 404) << path;
    }
    EXPECT_EQ(server.send("POST", "/dns/explain").status, 404) << "they are for reading";
}

}  // namespace
}  // namespace fairlead::apiserver
