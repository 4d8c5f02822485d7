// The manifests under examples/world: each is read, has no field that we do not describe, and is good; together they
// refer only to things that are there.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "resource/kinds_support.h"
#include "resource/meta.h"

namespace fairlead::resource {
namespace {

struct Example {
    std::string where;  // "30-shop-routes.yaml:4"
    const Kind* kind = nullptr;
    json::Value object;
};

std::vector<std::filesystem::path> example_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(source_root() / "examples" / "world")) {
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Example> examples() {
    std::vector<Example> out;
    for (const auto& file : example_files()) {
        for (auto& document : read_yaml(file)) {
            Example example;
            example.where = fmt::format("{}:{}", file.filename().string(), document.line);
            example.kind = all_kinds().find_kind(json::string_at(document.value, "apiVersion"),
                                                 json::string_at(document.value, "kind"));
            example.object = std::move(document.value);
            EXPECT_NE(example.kind, nullptr) << example.where << ": no such kind";
            if (example.kind != nullptr) out.push_back(std::move(example));
        }
    }
    return out;
}

// The schema without its leniency towards foreign kinds, so that a misspelt field is found.
Schema closed(const Schema& schema) {
    Schema out = schema;
    if (out.items) out.items = std::make_shared<const Schema>(closed(*out.items));
    for (auto& property : out.properties) property.schema = closed(property.schema);
    if (!out.properties.empty()) out.keep_unknown = false;
    return out;
}

TEST(Examples, HaveNoFieldThatWeDoNotDescribe) {
    for (const auto& example : examples()) {
        const auto unknown = unknown_fields(example.object, closed(example.kind->schema));
        EXPECT_TRUE(unknown.empty()) << example.where << ": " << unknown.front();
    }
}

TEST(Examples, AreAdmittedAndValid) {
    const auto all = examples();
    ASSERT_GT(all.size(), 30U);
    for (const auto& example : all) {
        auto object = example.object;
        apply_defaults(object, example.kind->schema);
        FieldErrors errors;
        Violations violations("", errors);
        if (example.kind->admit) example.kind->admit(object, nullptr, violations);
        for (auto& error : validate_metadata(object, *example.kind)) errors.push_back(std::move(error));
        for (auto& error : validate(object, nullptr, example.kind->schema)) errors.push_back(std::move(error));
        EXPECT_TRUE(errors.empty()) << example.where << text_of_errors(errors);
        const bool namespaced = example.kind->scope == Scope::namespaced;
        EXPECT_EQ(!json::string_at(object, "metadata.namespace").empty(), namespaced) << example.where;
    }
}

TEST(Examples, SayWhatTheyShow) {
    for (const auto& file : example_files()) {
        EXPECT_TRUE(read_text(file).starts_with("# Shows ")) << file.filename();
    }
}

// "kind/namespace/name" of everything in the world.
std::set<std::string> names_of(const std::vector<Example>& all) {
    std::set<std::string> names;
    for (const auto& example : all) {
        const auto name =
            fmt::format("{}/{}/{}", example.kind->name, json::string_at(example.object, "metadata.namespace"),
                        json::string_at(example.object, "metadata.name"));
        EXPECT_TRUE(names.insert(name).second) << example.where << ": " << name << " is there twice";
    }
    return names;
}

// Every {.., "name": N} below a member of one of these names must be there.
void check_references(const Example& example, const json::Value& value, const std::set<std::string>& names) {
    static const std::map<std::string, std::string, std::less<>> kinds = {
        {"to", "Service"},         {"alternateBackends", "Service"}, {"backendRefs", "Service"},
        {"service", "Service"},    {"managedZone", "ManagedZone"},   {"targetRef", "Gateway"},
        {"parentRefs", "Gateway"}, {"tsigSecretRef", "Secret"},      {"loadBalancerClaim", "LoadBalancerClaim"}};
    const auto* object = value.if_object();
    if (object == nullptr) return;
    for (const auto& member : *object) {
        const auto found = kinds.find(std::string_view(member.key().data(), member.key().size()));
        const json::Array items = member.value().is_array() ? member.value().as_array() : json::Array{member.value()};
        for (const auto& item : items) {
            check_references(example, item, names);
            if (found == kinds.end() || !item.is_object()) continue;
            const auto claim = json::string_at(item, "claimName");
            const auto name = claim.empty() ? json::string_at(item, "name") : claim;
            auto room = json::string_at(item, "namespace");
            if (room.empty()) room = json::string_at(example.object, "metadata.namespace");
            const auto wanted = fmt::format("{}/{}/{}", found->second, room, name);
            EXPECT_TRUE(names.contains(wanted)) << example.where << " refers to " << wanted << ", which is not there";
        }
    }
}

TEST(Examples, ReferOnlyToWhatIsThere) {
    const auto all = examples();
    const auto names = names_of(all);
    for (const auto& example : all) {
        check_references(example, example.object.at(example.object.as_object().contains("spec") ? "spec" : "metadata"),
                         names);
        const auto room = json::string_at(example.object, "metadata.namespace");
        if (!room.empty()) {
            EXPECT_TRUE(names.contains(fmt::format("Namespace//{}", room))) << example.where;
        }
        if (example.kind->name == "Endpoints") {
            const auto service = fmt::format("Service/{}/{}", room, json::string_at(example.object, "metadata.name"));
            EXPECT_TRUE(names.contains(service)) << example.where;
        }
    }
}

TEST(Examples, UseDocumentationAddressesAndDomainsOrThisMachine) {
    const std::regex address(R"((\d+\.\d+\.\d+)\.\d+)");
    const std::regex domain(R"(\b[a-z0-9-]+\.(com|net|org|io|local)\b)");
    const std::set<std::string> networks = {"192.0.2", "198.51.100", "203.0.113",
                                            "127.0.0"};  // what ./dev run starts on this machine
    for (const auto& file : example_files()) {
        std::string text = read_text(file);
        for (std::sregex_iterator at(text.begin(), text.end(), address), end; at != end; ++at) {
            EXPECT_TRUE(networks.contains((*at)[1])) << file.filename() << ": " << at->str();
        }
        for (std::sregex_iterator at(text.begin(), text.end(), domain), end; at != end; ++at) {
            const std::set<std::string> fine = {"example.com", "example.net",  "example.org",
                                                "k8s.io",      "openshift.io", "kuadrant.io"};
            EXPECT_TRUE(fine.contains(at->str())) << file.filename() << ": " << at->str();
        }
    }
}

}  // namespace
}  // namespace fairlead::resource
