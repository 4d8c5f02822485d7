// The tree against the cases of tests/data/gateway: Gateway, policy, clusters and zones in, DNSRecords and problems
// out. In what is expected, {g} stands for the mark of the Gateway and {CLUSTER} for that of a cluster.
#include "gateway/tree.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "gateway/guid.h"
#include "gateway/publication.h"
#include "json/yaml.h"
#include "paths/paths.h"

namespace fairlead::gateway {
namespace {

std::vector<std::filesystem::path> case_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(paths::test_data() / "gateway"))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> texts_at(const json::Value& value, std::string_view path) {
    std::vector<std::string> list;
    const auto* found = json::find(value, path);
    if (found == nullptr) return list;
    for (const auto& each : found->as_array()) list.emplace_back(json::view(each.as_string()));
    return list;
}

std::string_view kind_text(TreeProblem::Kind kind) {
    switch (kind) {
        case TreeProblem::Kind::no_host:
            return "no_host";
        case TreeProblem::Kind::no_zone:
            return "no_zone";
        case TreeProblem::Kind::no_cluster:
            return "no_cluster";
        case TreeProblem::Kind::no_address:
            return "no_address";
        case TreeProblem::Kind::geo_code:
            return "geo_code";
        case TreeProblem::Kind::default_geo:
            return "default_geo";
        case TreeProblem::Kind::default_down:
            return "default_down";
        case TreeProblem::Kind::selector:
            return "selector";
        case TreeProblem::Kind::hidden_names:
            return "hidden_names";
        case TreeProblem::Kind::too_long:
            return "too_long";
        case TreeProblem::Kind::status:
            return "status";
    }
    return "";
}

// A case, read from its file.
struct Case {
    json::Value value;
    resource::Gateway gateway;
    resource::DnsPolicySpec policy;
    std::map<std::string, resource::Cluster> clusters;
    std::vector<ZoneFacts> zones;

    explicit Case(const std::filesystem::path& file) {
        std::ifstream in(file);
        std::ostringstream out;
        out << in.rdbuf();
        auto documents = json::parse_yaml(out.str());
        EXPECT_TRUE(documents) << (documents ? "" : documents.error().text());
        value = std::move(documents->front().value);
        gateway = *resource::decode<resource::Gateway>(*json::find(value, "gateway"));
        policy = *resource::decode<resource::DnsPolicySpec>(*json::find(value, "policy"));
        if (const auto* list = json::find(value, "clusters")) {
            for (const auto& each : list->as_array()) {
                resource::Cluster cluster;
                cluster.metadata.name = json::string_at(each, "name");
                cluster.metadata.creation_timestamp = json::string_at(each, "created");
                if (const auto* labels = json::find(each, "labels")) {
                    for (const auto& label : labels->as_object())
                        cluster.metadata.labels[std::string(label.key())] = json::view(label.value().as_string());
                }
                if (json::bool_at(each, "stale")) {
                    cluster.status.conditions.emplace_back();
                    cluster.status.conditions.back().type = stale_condition;
                    cluster.status.conditions.back().status = "True";
                }
                clusters.emplace(cluster.metadata.name, cluster);
            }
        }
        for (const auto& zone : json::find(value, "zones")->as_object())
            zones.push_back({std::string(zone.key()), *dns::Name::parse(json::view(zone.value().as_string()))});
    }

    [[nodiscard]] TreeInput input() const {
        std::vector<std::string> listeners;
        for (const auto& each : gateway.spec.listeners) listeners.push_back(each.name);
        const auto facts =
            cluster_facts(gateway, read_state(gateway), [this](const std::string& name) -> const resource::Cluster* {
                const auto found = clusters.find(name);
                return found == clusters.end() ? nullptr : &found->second;
            });
        TreeSurroundings around;
        const auto down = texts_at(value, "down");
        around.works = [down](const std::string&, const std::string&, const std::string& address) {
            return std::find(down.begin(), down.end(), address) == down.end();
        };
        std::map<std::string, std::vector<std::string>> behind;
        if (const auto* known = json::find(value, "addressesOf")) {
            for (const auto& each : known->as_object()) {
                for (const auto& text : each.value().as_array())
                    behind[std::string(each.key())].emplace_back(json::view(text.as_string()));
            }
        }
        around.addresses_of = [behind](const std::string& host) -> std::optional<std::vector<std::string>> {
            const auto found = behind.find(host);
            if (found == behind.end()) return std::nullopt;
            return found->second;
        };
        for (const auto& host : texts_at(value, "withDefault")) around.with_default.insert(host);
        return {gateway, policy, listeners, facts, zones, around};
    }

    // A text of the case with the marks in place.
    [[nodiscard]] std::string marked(std::string text) const {
        const auto put = [&](const std::string& what, const std::string& by) {
            for (auto at = text.find(what); at != std::string::npos; at = text.find(what))
                text.replace(at, what.size(), by);
        };
        put("{g}", short_guid(gateway.metadata.name + "-" + gateway.metadata.namespace_));
        for (const auto& cluster : read_state(gateway).clusters)
            put("{" + cluster.name + "}", short_guid(cluster.name));
        return text;
    }
};

// One line per endpoint, so that a difference can be read.
std::string line_of(const resource::DnsEndpoint& endpoint) {
    std::string line =
        fmt::format("{} {} {}", endpoint.dns_name, endpoint.record_ttl.value_or(-1), endpoint.record_type);
    if (!endpoint.set_identifier.empty()) line += fmt::format(" [{}]", endpoint.set_identifier);
    for (const auto& property : endpoint.provider_specific)
        line += fmt::format(" {}={}", property.name, property.value);
    for (const auto& target : endpoint.targets) line += fmt::format(" -> {}", target);
    for (const auto& [key, value] : endpoint.labels) line += fmt::format(" {}:{}", key, value);
    return line;
}

std::vector<std::string> lines_of(const Tree& tree) {
    std::vector<std::string> lines;
    for (const auto& host : tree.hosts) {
        lines.push_back(fmt::format("record {} host {} zone {}", host.record, host.host, host.zone));
        for (const auto& endpoint : host.endpoints) lines.push_back(line_of(endpoint));
        for (const auto& target : host.unhealthy) lines.push_back("unhealthy " + target);
    }
    return lines;
}

std::vector<std::string> expected_lines(const Case& one) {
    std::vector<std::string> lines;
    for (const auto& record : json::find(one.value, "records")->as_array()) {
        lines.push_back(fmt::format("record {} host {} zone {}", json::string_at(record, "record"),
                                    json::string_at(record, "dnsName"), json::string_at(record, "managedZone")));
        for (const auto& endpoint : json::find(record, "endpoints")->as_array())
            lines.push_back(one.marked(line_of(*resource::decode<resource::DnsEndpoint>(endpoint))));
        for (const auto& target : texts_at(record, "unhealthy")) lines.push_back("unhealthy " + target);
    }
    return lines;
}

class TreeCase : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(TreeCase, GivesTheRecordsAndProblemsOfItsFile) {
    const Case one(GetParam());
    const auto tree = build_tree(one.input());
    EXPECT_THAT(lines_of(tree), testing::ElementsAreArray(expected_lines(one)));
    std::vector<std::string> problems;
    for (const auto& problem : tree.problems) {
        const bool named = problem.message.starts_with(problem.subject + ":");
        problems.push_back(named ? fmt::format("{} {}", kind_text(problem.kind), problem.message)
                                 : fmt::format("{} {}: {}", kind_text(problem.kind), problem.subject, problem.message));
    }
    EXPECT_THAT(problems, testing::ElementsAreArray(texts_at(one.value, "problems")));
    EXPECT_THAT(tree.lookups, testing::ElementsAreArray(texts_at(one.value, "lookups")));
    std::vector<std::string> waiting;
    for (const auto& host : tree.waiting) waiting.push_back(host.host);
    EXPECT_THAT(waiting, testing::ElementsAreArray(texts_at(one.value, "waiting")));
}

// The order in which the status lists addresses and listeners, and we clusters and zones, means nothing.
TEST_P(TreeCase, DoesNotDependOnTheOrderOfItsInputs) {
    Case one(GetParam());
    const auto tree = build_tree(one.input());
    std::reverse(one.gateway.status.addresses.begin(), one.gateway.status.addresses.end());
    std::reverse(one.gateway.status.listeners.begin(), one.gateway.status.listeners.end());
    std::reverse(one.zones.begin(), one.zones.end());
    const auto again = build_tree(one.input());
    EXPECT_EQ(again.hosts, tree.hosts);
}

INSTANTIATE_TEST_SUITE_P(Data, TreeCase, testing::ValuesIn(case_files()), [](const auto& each) {
    std::string name = each.param.stem().string();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
});

}  // namespace
}  // namespace fairlead::gateway
