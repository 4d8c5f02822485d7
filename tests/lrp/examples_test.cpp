// The cases of tests/data/lrp: LRPs in the Receptor's form in; names with their members, ports, records of SkyDNS and
// problems out. A name's line has its members, then what else its rule says.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lrp/front.h"
#include "lrp/names.h"
#include "lrp/parts.h"
#include "lrp/read.h"
#include "lrp/sharing.h"
#include "paths/paths.h"

namespace fairlead::lrp {
namespace {

using Table = std::map<std::string, std::string>;

std::vector<std::filesystem::path> case_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(paths::test_data() / "lrp"))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

json::Value read_file(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream out;
    out << in.rdbuf();
    auto value = json::parse(out.str());
    EXPECT_TRUE(value) << (value ? "" : value.error().text());
    return value ? *value : json::Value();
}

std::vector<std::string> texts(const json::Value& value, std::string_view field) {
    std::vector<std::string> list;
    const auto* found = json::find(value, field);
    if (found == nullptr) return list;
    for (const auto& each : found->as_array()) list.emplace_back(json::view(each.as_string()));
    return list;
}

std::string line_of(const traffic::RoutingTable& table) {
    std::string line;
    const auto add = [&](const std::string& text) { line += (line.empty() ? "" : " ") + text; };
    const auto& rule = table.rules.begin()->second;
    const auto& pool = table.pools.at(rule.pool);
    for (const auto& member : pool.members) {
        add(fmt::format("{}:{}{}{}{}", member.address, member.port, member.http2 ? "/http2" : "",
                        member.segment.empty() ? "" : "@", member.segment));
    }
    if (pool.protocol == traffic::PoolProtocol::http2) add("http2");
    if (rule.plain == traffic::Plain::redirect && rule.tls == traffic::Tls::terminate) add("redirect");
    if (!rule.route_service.empty()) add("service=" + rule.route_service);
    if (!rule.options.empty()) add("options=" + rule.options);
    return line;
}

class Examples : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Examples, ComeOutAsWritten) {
    const auto example = read_file(GetParam());
    Book book;
    Front front;
    std::vector<std::string> ports, sky, problems;
    for (const auto& value : example.at("desired").as_array()) {
        const auto desired = desired_of_receptor(value);
        ASSERT_TRUE(desired) << desired.error().text();
        for (const auto& each : desired->routes.ports) {
            ports.push_back(fmt::format("{} {} to {}", traffic::name_of(each.transport), each.incoming, each.port));
        }
        for (const auto& each : desired->routes.sky) {
            sky.push_back(fmt::format("{} {} priority {}", each.host, each.port, each.priority));
        }
        for (const auto& [provider, list] : desired->routes.problems) {
            problems.insert(problems.end(), list.begin(), list.end());
        }
        book.put(*desired);
    }
    for (const auto& value : example.at("actual").as_array()) {
        const auto actual = actual_of_receptor(value);
        ASSERT_TRUE(actual) << actual.error().text();
        book.put(*actual);
    }
    Table table;
    const auto touched = book.take_touched();
    for (const auto& name : front.update(book, touched)) {
        const auto part = front.part(book, name);
        ASSERT_EQ(part.rules.size(), 1U);
        table[text_of(name)] = line_of(part);
    }
    Sharing sharing;
    for (const auto& process : touched) {
        if (const auto desired = book.desired(process)) sharing.put(process.guid, &*desired);
    }
    for (const auto& process : touched) {
        const auto desired = book.desired(process);
        if (!desired) continue;
        for (const auto& more :
             {sharing.problems(process.guid, [](const auto&) { return true; }), limits_of(*desired)}) {
            problems.insert(problems.end(), more.begin(), more.end());
        }
    }
    Table wanted;
    for (const auto& row : example.at("table").as_object()) wanted[row.key()] = json::view(row.value().as_string());
    EXPECT_EQ(table, wanted);
    EXPECT_EQ(ports, texts(example, "ports"));
    EXPECT_EQ(sky, texts(example, "sky"));
    const auto beginnings = texts(example, "problems");
    ASSERT_EQ(problems.size(), beginnings.size());
    for (std::size_t i = 0; i < problems.size(); ++i)
        EXPECT_TRUE(problems[i].starts_with(beginnings[i])) << problems[i];
}

INSTANTIATE_TEST_SUITE_P(Files, Examples, testing::ValuesIn(case_files()), [](const auto& row) {
    auto name = row.param.stem().string();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace fairlead::lrp
