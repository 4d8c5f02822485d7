// LRPs from JSON: our kinds, the Receptor's form, and what is said of wrong ones.
#include "lrp/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::lrp {
namespace {

using testing::ElementsAre;
using testing::Pair;

json::Value json_of(std::string_view text) {
    auto value = json::parse(text);
    EXPECT_TRUE(value) << value.error().text() << " in " << text;
    return value ? *value : json::Value();
}

constexpr std::string_view desired_object = R"({
    "metadata": {"namespace": "diego", "name": "web", "uid": "u1", "resourceVersion": "17", "labels": {"a": "b"}},
    "spec": {"process_guid": "p", "domain": "cf", "instances": 3, "ports": [4000, 5000], "log_guid": "log",
             "routes": {"cf-router": [{"port": 4000, "routes": ["foo.com"]}]},
             "modification_tag": {"epoch": "e", "index": 4}}})";

TEST(ReadDesired, FromOurKind) {
    const auto desired = desired_of_object(json_of(desired_object));
    ASSERT_TRUE(desired) << desired.error().text();
    EXPECT_EQ(desired->key, (ProcessKey{"diego", "p"}));
    EXPECT_EQ(desired->name, "web");
    EXPECT_EQ(desired->uid, "u1");
    EXPECT_EQ(desired->domain, "cf");
    EXPECT_EQ(desired->app, "log");
    EXPECT_EQ(desired->instances, 3);
    EXPECT_THAT(desired->ports, ElementsAre(4000, 5000));
    EXPECT_EQ(desired->routes.http, (std::vector<HttpRoute>{{.port = 4000, .names = {"foo.com"}}}));
    EXPECT_THAT(desired->labels, ElementsAre(Pair("a", "b")));
    // Not its modification_tag, which a person with kubectl leaves as it is.
    EXPECT_EQ(desired->tag, (Tag{"u1", 17}));
}

TEST(ReadDesired, FromAReceptor) {
    const auto desired = desired_of_receptor(json_of(R"({"process_guid": "p", "domain": "cf", "instances": 0,
        "ports": [4000], "routes": ["foo.com"], "setup": null, "modification_tag": {"epoch": "e", "index": 4}})"));
    ASSERT_TRUE(desired) << desired.error().text();
    EXPECT_EQ(desired->key, (ProcessKey{"", "p"}));
    EXPECT_EQ(desired->app, "p");
    EXPECT_EQ(desired->instances, 0);
    EXPECT_EQ(desired->routes.http, (std::vector<HttpRoute>{{.port = 4000, .names = {"foo.com"}}}));
    EXPECT_EQ(desired->tag, (Tag{"e", 4}));
}

TEST(ReadActual, FromOurKind) {
    const auto actual = actual_of_object(json_of(R"({
        "metadata": {"namespace": "diego", "name": "web-0", "uid": "u2", "resourceVersion": "18"},
        "spec": {"process_guid": "p", "instance_guid": "i", "domain": "cf", "index": 2, "address": "10.10.1.2",
                 "ports": [{"container_port": 4000, "host_port": 59001, "host_tls_port": 61001}], "state": "RUNNING",
                 "since": 1740830400000000000, "evacuating": true}})"));
    ASSERT_TRUE(actual) << actual.error().text();
    const Actual wanted{.process = {"diego", "p"},
                        .index = 2,
                        .evacuating = true,
                        .instance_guid = "i",
                        .domain = "cf",
                        .running = true,
                        .address = "10.10.1.2",
                        .ports = {{4000, 59001, 61001}},
                        .since = 1740830400000000000,
                        .tag = {"u2", 18}};
    EXPECT_EQ(*actual, wanted);
}

TEST(ReadActual, FromAReceptor) {
    const auto actual = actual_of_receptor(json_of(R"({"process_guid": "p", "instance_guid": "", "domain": "cf",
        "index": 0, "address": "", "ports": null, "state": "UNCLAIMED", "modification_tag": {"epoch": "e", "index": 1}})"));
    ASSERT_TRUE(actual) << actual.error().text();
    EXPECT_FALSE(actual->running);
    EXPECT_EQ(actual->tag, (Tag{"e", 1}));
    // Where only TLS is taken.
    const auto tls = actual_of_receptor(json_of(R"({"process_guid": "p", "index": 0, "address": "10.10.1.2",
        "state": "RUNNING", "ports": [{"container_port": 4000, "host_port": 0, "host_tls_proxy_port": 61001}]})"));
    ASSERT_TRUE(tls) << tls.error().text();
    EXPECT_EQ(tls->ports, (std::vector<MappedPort>{{4000, 0, 61001}}));
}

TEST(ReadLrps, ErrorsNameTheField) {
    struct Row {
        const char *lrp, *error;
    };
    const Row desired[] = {
        {"7", "is not an object"},
        {"{}", "process_guid: is missing"},
        {R"({"process_guid": 7})", "process_guid: 7 is not a string"},
        {R"({"process_guid": "p", "instances": -1})", "instances: -1 is not a whole number in 0..2147483647"},
        {R"({"process_guid": "p", "ports": 4000})", "ports: 4000 is not a list"},
        {R"({"process_guid": "p", "ports": [4000, 0]})", "ports[1]: 0 is not a port in 1..65535"},
    };
    for (const auto& row : desired) {
        const auto read = desired_of_receptor(json_of(row.lrp));
        ASSERT_FALSE(read) << row.lrp;
        EXPECT_EQ(read.error().text(), row.error);
    }
    const Row actual[] = {
        {R"({"process_guid": "p", "state": "RUNNING", "address": "a"})", "index: is missing"},
        {R"({"process_guid": "p", "index": 0, "state": "UP"})",
         "state: 'UP' is none of UNCLAIMED, CLAIMED, RUNNING, CRASHED"},
        {R"({"process_guid": "p", "index": 0, "state": "RUNNING"})", "address: is missing, and state is RUNNING"},
        {R"({"process_guid": "p", "index": 0, "state": "CLAIMED", "evacuating": 1})",
         "evacuating: 1 is not true or false"},
        {R"({"process_guid": "p", "index": 0, "state": "RUNNING", "address": "a", "ports": [{"host_port": 1}]})",
         "ports[0].container_port: is missing"},
        {R"({"process_guid": "p", "index": 0, "state": "RUNNING", "address": "a", "ports": [{"container_port": 1}]})",
         "ports[0].host_port: is missing"},
        {R"({"process_guid": "p", "index": 0, "state": "RUNNING", "address": "a",
             "ports": [{"container_port": 1, "host_port": 65536}]})",
         "ports[0].host_port: 65536 is not a whole number in 0..65535"},
    };
    for (const auto& row : actual) {
        const auto read = actual_of_receptor(json_of(row.lrp));
        ASSERT_FALSE(read) << row.lrp;
        EXPECT_EQ(read.error().text(), row.error);
    }
    const auto object = desired_of_object(json_of(R"({"spec": {"process_guid": "p", "ports": [0]}})"));
    ASSERT_FALSE(object);
    EXPECT_EQ(object.error().text(), "spec.ports[0]: 0 is not a port in 1..65535");
    EXPECT_EQ(desired_of_object(json_of("{}")).error().text(), "spec: is not an object");
}

}  // namespace
}  // namespace fairlead::lrp
