// Desired LRPs through the Receptor API and through our own, which keep each other's rules.
#include "json/exact.h"
#include "receptor_world.h"
#include "store/passing_store.h"

namespace fairlead::apiserver::receptor {
namespace {

TEST(ReceptorDesired, IsMadeShownChangedAndRemoved) {
    ReceptorWorld world;
    EXPECT_EQ(world.ask("GET", "/v1/desired_lrps").body, "[]") << "before there is a namespace";
    const auto made = world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    EXPECT_EQ(made.code, 201);
    EXPECT_EQ(made.body, "");

    const auto shown = world.ask("GET", "/v1/desired_lrps/web");
    EXPECT_EQ(shown.code, 200);
    const auto uid = world.get(std::string(ReceptorWorld::objects) + "/web").at("metadata.uid");
    EXPECT_EQ(shown.body,
              R"({"process_guid":"web","domain":"cf-apps","rootfs":"preloaded:cflinuxfs4","instances":2,"setup":null,)"
              R"("action":{"run":{"path":"/bin/web","user":"vcap"}},"monitor":null,"start_timeout":0,"disk_mb":0,)"
              R"("memory_mb":0,"cpu_weight":0,"privileged":false,"ports":[4000,5000],"log_guid":"log-1",)"
              R"("log_source":"","metrics_guid":"","modification_tag":{"epoch":")" +
                  uid + R"(","index":0}})");

    EXPECT_EQ(
        world.ask("PUT", "/v1/desired_lrps/web", R"({"instances":5,"annotation":"n","ports":[1],"domain":"x"})").code,
        204);
    const auto changed = world.ask("GET", "/v1/desired_lrps/web").body;
    EXPECT_THAT(changed, testing::HasSubstr(R"("instances":5)"));
    EXPECT_THAT(changed, testing::HasSubstr(R"("annotation":"n")"));
    EXPECT_THAT(changed, testing::HasSubstr(R"("ports":[4000,5000])")) << "what cannot change is dropped silently";
    EXPECT_THAT(changed, testing::HasSubstr(R"("index":1})"));

    EXPECT_EQ(world.ask("DELETE", "/v1/desired_lrps/web").code, 204);
    const auto gone = world.ask("DELETE", "/v1/desired_lrps/web");
    EXPECT_EQ(gone.code, 404);
    EXPECT_EQ(gone.body, R"({"name":"DesiredLRPNotFound","message":"Desired LRP with guid 'web' not found"})");
    EXPECT_EQ(world.ask("GET", "/v1/desired_lrps/web").code, 404);
    EXPECT_EQ(world.ask("PUT", "/v1/desired_lrps/web", "{}").code, 404);
}

TEST(ReceptorDesired, IsThereOnce) {
    ReceptorWorld world;
    EXPECT_EQ(world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("Web_1")).code, 201);
    const auto again = world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("Web_1"));
    EXPECT_EQ(again.code, 409);
    EXPECT_EQ(again.body,
              R"({"name":"DesiredLRPAlreadyExists","message":"Desired LRP with guid 'Web_1' already exists"})");
    EXPECT_EQ(world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web_1")).code, 201) << "another guid";
    // Our own API keeps the rule, because the name says the guid.
    const auto other = world.post(ReceptorWorld::objects,
                                  R"({"apiVersion":"fairlead.dev/v1","kind":"DesiredLRP","metadata":{"name":"second"},)"
                                  R"("spec":{"process_guid":"Web_1","domain":"d"}})");
    EXPECT_EQ(other.code, 422);
    EXPECT_THAT(other.message(), testing::HasSubstr("metadata.name: Invalid value: \"second\": must be 'web-1."));
}

TEST(ReceptorDesired, ListsByDomainInOrder) {
    ReceptorWorld world;
    for (const auto* guid : {"c", "a", "b"}) world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process(guid));
    world.ask("POST", "/v1/desired_lrps",
              R"({"process_guid":"z","domain":"lattice","rootfs":"docker:///x","action":{"run":{"path":"/x"}}})");
    const auto guids = [&](std::string_view target) {
        std::string out;
        const auto list = json::parse(world.ask("GET", target).body);
        for (const auto& lrp : list->as_array()) out += json::string_at(lrp, "process_guid");
        return out;
    };
    EXPECT_EQ(guids("/v1/desired_lrps"), "abcz");
    EXPECT_EQ(guids("/v1/desired_lrps?domain=cf-apps"), "abc");
    EXPECT_EQ(guids("/v1/desired_lrps?domain=lattice"), "z");
    EXPECT_EQ(world.ask("GET", "/v1/desired_lrps?domain=none").body, "[]");
    const auto slim = world.ask("GET", "/v1/desired_lrps?domain=lattice&view=routing").body;
    EXPECT_THAT(slim, testing::StartsWith(
                          R"([{"process_guid":"z","domain":"lattice","instances":0,"ports":[],"log_guid":"",)"));
    EXPECT_EQ(world.ask("GET", "/v1/desired_lrps?view=fat").name(), "InvalidRequest");
}

struct RefusedCase {
    std::string what, method, target, body;
    int code;
    std::string name, message;
};

class ReceptorRefusals : public testing::TestWithParam<RefusedCase> {};

TEST_P(ReceptorRefusals, NameTheField) {
    const auto& [what, method, target, body, code, name, message] = GetParam();
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    const auto said = world.ask(method, target, body);
    EXPECT_EQ(said.code, code) << said.body;
    EXPECT_EQ(said.name(), name);
    EXPECT_THAT(said.message(), testing::HasSubstr(message));
}

std::vector<RefusedCase> refusals() {
    const std::string post = "/v1/desired_lrps", put = "/v1/desired_lrps/web";
    const auto lrp = [](std::string_view more) { return ReceptorWorld::process("x", more); };
    const std::string first = R"({"process_guid":"x","domain":"d","rootfs":"a:b","action":{"run":{"path":"/x"}})";
    return {
        {"NoJson", "POST", post, "{", 400, "InvalidJSON", "line 1"},
        {"NoObject", "POST", post, "[]", 400, "InvalidJSON", "must be a JSON object"},
        {"WrongType", "POST", post, lrp(R"(,"memory_mb":"lots")"), 400, "InvalidJSON",
         "memory_mb: must be a whole number"},
        {"WrongTypeOfPorts", "POST", post, R"({"ports":["a"]})", 400, "InvalidJSON", "ports: must be a list"},
        {"RoutesAreAMap", "POST", post, lrp(R"(,"routes":"foo.com")"), 400, "InvalidJSON",
         "routes: must be an object, or a list of names"},
        {"UpdatedRoutesAreAMap", "PUT", put, R"({"routes":7})", 400, "InvalidJSON",
         "routes: must be an object, or a list of names"},
        {"EverythingMissing", "POST", post, "{}", 400, "InvalidLRP",
         "Invalid field: domain, Invalid field: process_guid, Invalid field: rootfs, Invalid field: action"},
        {"Guid", "POST", post, R"({"process_guid":"a b","domain":"d","rootfs":"a:b","action":{"run":{"path":"/x"}}})",
         400, "InvalidLRP", "Invalid field: process_guid"},
        {"Rootfs", "POST", post,
         R"({"process_guid":"a","domain":"d","rootfs":"lucid64","action":{"run":{"path":"/x"}}})", 400, "InvalidLRP",
         "Invalid field: rootfs"},
        {"UnknownAction", "POST", post, R"({"process_guid":"a","domain":"d","rootfs":"a:b","action":{"fly":{}}})", 400,
         "InvalidLRP", "Invalid field: action"},
        {"RunWithoutPath", "POST", post, R"({"process_guid":"a","domain":"d","rootfs":"a:b","action":{"run":{}}})", 400,
         "InvalidLRP", "Invalid field: path"},
        {"InnerAction", "POST", post,
         R"({"process_guid":"a","domain":"d","rootfs":"a:b","action":{"serial":{"actions":[{"timeout":{"timeout":0,"action":{"download":{"from":"x"}}}}]}}})",
         400, "InvalidLRP", "Invalid field: timeout, Invalid field: to"},
        {"Setup", "POST", post, first + R"(,"setup":{}})", 400, "InvalidLRP", "Invalid field: setup"},
        {"Monitor", "POST", post, first + R"(,"monitor":{"run":{"path":""}}})", 400, "InvalidLRP",
         "Invalid field: path"},
        {"Instances", "POST", post, first + R"(,"instances":-1})", 400, "InvalidLRP", "Invalid field: instances"},
        {"CpuWeight", "POST", post, first + R"(,"cpu_weight":101})", 400, "InvalidLRP", "Invalid field: cpu_weight"},
        {"Memory", "POST", post, first + R"(,"memory_mb":-1})", 400, "InvalidLRP", "Invalid field: memory_mb"},
        {"Disk", "POST", post, first + R"(,"disk_mb":-1})", 400, "InvalidLRP", "Invalid field: disk_mb"},
        {"Annotation", "POST", post, first + R"(,"annotation":")" + std::string(10'241, 'x') + "\"}", 400, "InvalidLRP",
         "Invalid field: annotation"},
        {"Routes", "POST", post, first + R"(,"routes":{"a":")" + std::string(131'073, 'x') + "\"}}", 400, "InvalidLRP",
         "Invalid field: routes (Invalid value"},
        {"EgressProtocol", "POST", post, first + R"(,"egress_rules":[{"protocol":"gre","destinations":["10.0.0.1"]}]})",
         400, "InvalidLRP", "Invalid field: protocol"},
        {"EgressPorts", "POST", post, first + R"(,"egress_rules":[{"protocol":"tcp","destinations":["10.0.0.1"]}]})",
         400, "InvalidLRP", "Invalid field: port_range"},
        {"EgressDestination", "POST", post,
         first + R"(,"egress_rules":[{"protocol":"udp","ports":[53],"destinations":["here"]}]})", 400, "InvalidLRP",
         "Invalid field: destinations"},
        {"EgressIcmp", "POST", post, first + R"(,"egress_rules":[{"protocol":"icmp","destinations":["10.0.0.0/8"]}]})",
         400, "InvalidLRP", "Invalid field: icmp_info"},
        {"Port", "POST", post, first + R"(,"ports":[0]})", 400, "InvalidLRP",
         "Invalid field: ports[0] (Invalid value: 0"},
        {"PortsBesideOthers", "POST", post, R"({"process_guid":"x","ports":[80,0,80],"action":{"run":{"path":"/x"}}})",
         400, "InvalidLRP",
         "Invalid field: domain, Invalid field: rootfs, Invalid field: ports[1] (Invalid value: 0: must be between 1 "
         "and "
         "65535), Invalid field: ports[2] (Duplicate value: 80)"},
        {"PortWithExponent", "POST", post, first + R"(,"ports":[7e4]})", 400, "InvalidLRP",
         "Invalid field: ports[0] (Invalid value: 70000: must be"},
        {"ByteOrderMark", "POST", post, "\xef\xbb\xbf" + first + "}", 400, "InvalidJSON",
         "the body: invalid JSON at line 1 column 1: there is a byte order mark, which JSON must not have"},
        {"LoneSurrogate", "POST", post, first + R"(,"annotation":"\ud800 x"})", 400, "InvalidJSON",
         "a surrogate stands alone: \\ud800..\\udbff and \\udc00..\\udfff come in pairs (RFC 8259, 7)"},
        {"LoneLowSurrogate", "POST", post, first + R"(,"annotation":"\udc00"})", 400, "InvalidJSON",
         "a surrogate stands alone"},
        {"RepeatedPort", "POST", post, first + R"(,"ports":[80,80]})", 400, "InvalidLRP", "Invalid field: ports[1]"},
        {"UpdateNoJson", "PUT", put, "nope", 400, "InvalidJSON", "line 1"},
        {"UpdateType", "PUT", put, R"({"instances":"3"})", 400, "InvalidJSON", "instances: must be a whole number"},
        {"UpdateInstances", "PUT", put, R"({"instances":-1})", 400, "InvalidLRP", "Invalid field: instances"},
        {"UpdateAnnotation", "PUT", put, R"({"annotation":")" + std::string(10'241, 'x') + "\"}", 400, "InvalidLRP",
         "Invalid field: annotation"},
        {"UpdateRoutes", "PUT", put, R"({"routes":{"a":")" + std::string(131'073, 'x') + "\"}}", 400, "InvalidLRP",
         "Invalid field: routes"},
        {"UpdateUnknown", "PUT", "/v1/desired_lrps/other", "{}", 404, "DesiredLRPNotFound",
         "Desired LRP with guid 'other' not found"},
    };
}

INSTANTIATE_TEST_SUITE_P(Bodies, ReceptorRefusals, testing::ValuesIn(refusals()),
                         [](const auto& one) { return one.param.what; });

TEST(ReceptorDesired, WithGoodActionsAndRules) {
    ReceptorWorld world;
    const auto made = world.ask(
        "POST", "/v1/desired_lrps",
        ReceptorWorld::process(
            "web",
            R"(,"setup":{"serial":{"actions":[{"download":{"from":"http://x/y","to":"."}},{"try":{"action":{"upload":{"from":"a","to":"b"}}}}]}})"
            R"(,"monitor":{"timeout":{"timeout":1000,"action":{"parallel":{"actions":[{"run":{"path":"/c"}}]}}}},"env":[{"name":"A","value":"b"}])"
            R"(,"egress_rules":[{"protocol":"tcp","destinations":["10.0.0.1-10.0.0.9"],"ports":[80],"log":true},{"protocol":"udp","destinations":["10.0.0.0/8"],"port_range":{"start":1,"end":9}},{"protocol":"icmp","destinations":["::1"],"icmp_info":{"type":0,"code":0}},{"protocol":"all","destinations":["0.0.0.0/0"]}])"
            R"(,"cpu_weight":100,"privileged":true,"start_timeout":60,"unknown":{"ignored":true},"routes":null)"));
    EXPECT_EQ(made.code, 201) << made.body;
    const auto shown = world.ask("GET", "/v1/desired_lrps/web").body;
    EXPECT_THAT(shown, testing::HasSubstr(R"("env":[{"name":"A","value":"b"}])"));
    EXPECT_THAT(shown, testing::HasSubstr(R"("privileged":true)"));
    EXPECT_THAT(shown, testing::Not(testing::HasSubstr("routes")));
    EXPECT_THAT(shown, testing::Not(testing::HasSubstr("ignored")));
}

struct RoutesCase {
    std::string what, sent, given;  // `given` empty: the same
};

class ReceptorRoutes : public testing::TestWithParam<RoutesCase> {};

// Through POST, and through PUT over something else; and again after a write that has nothing to do with it.
TEST_P(ReceptorRoutes, ComeBackAsTheyWereSent) {
    const auto& [what, sent, given] = GetParam();
    const auto expected = R"("ports":[4000,5000],"routes":)" + (given.empty() ? sent : given) + R"(,"log_guid")";
    ReceptorWorld world;
    EXPECT_EQ(world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("new", R"(,"routes":)" + sent)).code, 201);
    EXPECT_THAT(world.ask("GET", "/v1/desired_lrps/new").body, testing::HasSubstr(expected));
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("old", R"(,"routes":{"x":[1e9],"y":"z"})"));
    EXPECT_EQ(world.ask("PUT", "/v1/desired_lrps/old", R"({"routes":)" + sent + "}").code, 204);
    EXPECT_THAT(world.ask("GET", "/v1/desired_lrps/old").body, testing::HasSubstr(expected));
    const auto edited = world.merge(std::string(ReceptorWorld::objects) + "/old", R"({"spec":{"annotation":"later"}})");
    EXPECT_EQ(edited.code, 200) << edited.body;
    EXPECT_THAT(world.ask("GET", "/v1/desired_lrps/old").body, testing::HasSubstr(expected));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, ReceptorRoutes,
    testing::ValuesIn(std::vector<RoutesCase>{
        {"RawJson", R"({"cf-router":[{"port":4000,"hostnames":["foo.com"]}]})", ""},
        {"JsonInAString", R"({"cf-router":"[{\"port\": 4000, \"routes\": [\"foo.com\"]}]"})", ""},
        {"NotJsonAtAll", R"({"cf-router":"[{n[\"x\"]}]","skydns":"}"})", ""},
        {"Numbers", R"({"a":[1.0,1e3,1E+2,-0.0,0.1,123456789012345678901234567890,18446744073709551615]})", ""},
        {"Repeated", R"({"a":{"x":1,"x":{"y":2,"y":2}}})", ""},
        {"Order", R"({"z":{"b":1,"a":2},"a":true})", ""},
        {"Nulls", R"({"a":[{"route_service_url":null,"port":1}],"b":null})", ""},
        {"Escapes", R"({"a":"\u003chtml\u003e","b":["\/"]})", ""},
        {"Space", "{ \"a\" : [ 1 ,\n 2e1 ] }", R"({"a":[1,2e1]})"},
    }),
    [](const auto& one) { return one.param.what; });

TEST(ReceptorDesired, RoutesAreReplacedAsAWhole) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web", R"(,"routes":{"a":[1],"b":[2e0]})"));
    const auto routes = [&] {
        const auto body = world.ask("GET", "/v1/desired_lrps/web").body;
        const auto at = body.find("\"routes\":");
        return at == std::string::npos ? std::string() : body.substr(at, body.find(",\"log_guid") - at);
    };
    for (const auto* unchanged : {"{}", R"({"routes":null})"}) {
        EXPECT_EQ(world.ask("PUT", "/v1/desired_lrps/web", unchanged).code, 204);
        EXPECT_EQ(routes(), R"("routes":{"a":[1],"b":[2e0]})") << unchanged;
    }
    EXPECT_THAT(world.ask("GET", "/v1/desired_lrps/web").body, testing::HasSubstr(R"("index":0})"))
        << "nothing changed";
    world.ask("PUT", "/v1/desired_lrps/web", R"({"routes":{"a":[1.0]}})");
    EXPECT_EQ(routes(), R"("routes":{"a":[1.0]})");
    world.ask("PUT", "/v1/desired_lrps/web", R"({"routes":{}})");
    EXPECT_EQ(routes(), "");
}

// Our own API shows values and keeps the text beside them; a client that writes JSON through it keeps its bytes too.
TEST(ReceptorDesired, OldListsOfNamesAreCfRouters) {
    ReceptorWorld world;
    const auto routes = [&] {
        const auto body = world.ask("GET", "/v1/desired_lrps/web").body;
        return std::string(json::text_at(body, "routes"));
    };
    const auto made = world.ask("POST", "/v1/desired_lrps",
                                ReceptorWorld::process("web", R"(,"routes":[ "foo.com", "b\u0061r.com" ])"));
    EXPECT_EQ(made.code, 201) << made.body;
    EXPECT_EQ(routes(), R"({"cf-router":["foo.com","b\u0061r.com"]})");
    const auto object = world.get(std::string(ReceptorWorld::objects) + "/web");
    EXPECT_EQ(json::serialize(object.value.at("spec").at("routes")), R"({"cf-router":["foo.com","bar.com"]})");
    EXPECT_EQ(world.ask("PUT", "/v1/desired_lrps/web", R"({"routes":["new.com"]})").code, 204);
    EXPECT_EQ(routes(), R"({"cf-router":["new.com"]})");
    EXPECT_EQ(world.ask("PUT", "/v1/desired_lrps/web", R"({"routes":[]})").code, 204);
    EXPECT_EQ(routes(), "") << "as {} does";
    EXPECT_EQ(world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("none", R"(,"routes":[])")).code, 201);
}

TEST(ReceptorDesired, RoutesThroughOurOwnApi) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("first"));
    const auto made = world.post(ReceptorWorld::objects,
                                 R"({"apiVersion":"fairlead.dev/v1","kind":"DesiredLRP","metadata":{"name":"web"},)"
                                 R"("spec":{"process_guid":"web","domain":"d","routes":{"a":[1e3],"b":"s"},)"
                                 R"("modification_tag":{"epoch":"mine","index":7}}})");
    EXPECT_EQ(made.code, 201) << made.body;
    EXPECT_EQ(made.at("spec.modification_tag.epoch"), made.at("metadata.uid")) << "nobody sets it but the server";
    EXPECT_THAT(made.body, testing::HasSubstr(R"("routes":{"a":[1000.0],"b":"s"},"routes_text":{"a":"[1e3]"})"));
    EXPECT_THAT(world.ask("GET", "/v1/desired_lrps/web").body, testing::HasSubstr(R"("routes":{"a":[1e3],"b":"s"})"));
    world.merge(std::string(ReceptorWorld::objects) + "/web", R"({"spec":{"routes":{"a":[1001]}}})");
    EXPECT_THAT(world.ask("GET", "/v1/desired_lrps/web").body, testing::HasSubstr(R"("routes":{"a":[1001],"b":"s"})"));
    const auto ports = world.merge(std::string(ReceptorWorld::objects) + "/web", R"({"spec":{"domain":"other"}})");
    EXPECT_EQ(ports.code, 422);
}

// Somebody writes to the LRP between every read and write of the update.
class Meddler final : public store::PassingStore {
public:
    using PassingStore::PassingStore;
    std::function<void()> meddle;
    int times = 0;
    void commit(std::vector<store::Op> ops, store::Completion done) override {
        if (times-- > 0) meddle();
        PassingStore::commit(std::move(ops), std::move(done));
    }
};

TEST(ReceptorDesired, GivesUpAfterManyConflicts) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    Meddler meddler(*world.store);
    Rest rest(world.kinds, meddler, world.clock, world.random);
    Receptor receptor("diego", world.kinds, meddler, rest, world.clock);
    int writes = 0;
    meddler.meddle = [&] {
        world.ask("PUT", "/v1/desired_lrps/web", R"({"annotation":")" + std::to_string(++writes) + "\"}");
    };
    meddler.times = 16;
    const auto found = find_operation("PUT", "/v1/desired_lrps/web");
    const auto answer = receptor.serve(*found.operation, R"({"instances":9})", {}, {});
    EXPECT_EQ(answer.code, 500);
    EXPECT_EQ(answer.body, R"({"name":"ResourceConflict","message":"Desired LRP with guid 'web' failed to update"})");
    EXPECT_EQ(writes, 16);
    meddler.times = 1;
    EXPECT_EQ(receptor.serve(*found.operation, R"({"instances":9})", {}, {}).code, 204)
        << "one lost try is not the end";
    EXPECT_THAT(world.ask("GET", "/v1/desired_lrps/web").body, testing::HasSubstr(R"("annotation":"17")"));
}

struct PathCase {
    std::string what, method, target;
    int code;
};

class ReceptorPaths : public testing::TestWithParam<PathCase> {};

TEST_P(ReceptorPaths, AreKnownOrNot) {
    ReceptorWorld world;
    EXPECT_EQ(world.ask(GetParam().method, GetParam().target).code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(Targets, ReceptorPaths,
                         testing::ValuesIn(std::vector<PathCase>{
                             {"Root", "GET", "/v1", 404},
                             {"Unknown", "GET", "/v1/cells", 404},
                             {"TooDeep", "GET", "/v1/desired_lrps/a/b", 404},
                             {"NotIndex", "GET", "/v1/actual_lrps/a/indices/0", 404},
                             {"EmptySegment", "GET", "/v1//desired_lrps", 404},
                             {"BrokenEscape", "GET", "/v1/desired_lrps/%zz", 404},
                             {"ControlCharacter", "GET", "/v1/desired_lrps/a%00", 404},
                             {"SlashAtTheEnd", "GET", "/v1/desired_lrps/", 200},
                             {"WrongMethod", "PATCH", "/v1/desired_lrps/a", 405},
                             {"WrongMethodOfAll", "DELETE", "/v1/desired_lrps", 405},
                             {"PostToEvents", "POST", "/v1/events", 405},
                         }),
                         [](const auto& one) { return one.param.what; });

}  // namespace
}  // namespace fairlead::apiserver::receptor
