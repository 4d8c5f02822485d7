#include "balancer/settings_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "json/yaml.h"
#include "resource/kinds/rules.h"

namespace fairlead::balancer {

namespace {

// Reads one mapping and remembers the first thing that is wrong with it.
class Reader {
public:
    Reader(const json::Value& value, std::string path) : path_(std::move(path)) {
        object_ = value.if_object();
        if (object_ == nullptr) wrong("", "must be a mapping");
    }

    std::string text(std::string_view name, std::string usual = {}) {
        const auto* value = take(name);
        if (value == nullptr) return usual;
        const auto* string = value->if_string();
        if (string == nullptr) {
            wrong(name, fmt::format("{} is no text", json::serialize(*value)));
            return usual;
        }
        return std::string(json::view(*string));
    }
    std::string one_of(std::string_view name, std::string usual, const std::vector<std::string>& allowed) {
        auto value = text(name, std::move(usual));
        if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
            wrong(name, fmt::format("'{}' is not one of {}", value, join(allowed, ", ")));
        }
        return value;
    }
    double number(std::string_view name, double usual, double least, double most) {
        const auto* value = take(name);
        if (value == nullptr) return usual;
        const double number = value->is_int64()    ? static_cast<double>(value->get_int64())
                              : value->is_double() ? value->get_double()
                                                   : least - 1;
        if (number < least || number > most) {
            wrong(name, fmt::format("{} is no number from {} to {}", json::serialize(*value), least, most));
            return usual;
        }
        return number;
    }
    std::map<std::string, std::string> texts(std::string_view name) {
        std::map<std::string, std::string> out;
        const auto* value = take(name);
        if (value == nullptr) return out;
        if (!value->is_object()) {
            wrong(name, "must be a mapping of texts");
            return out;
        }
        Reader inside(*value, at(name));
        for (const auto& [key, each] : value->get_object()) {
            const std::string member(key.data(), key.size());
            out.emplace(member, inside.text(member));
        }
        pass_on(inside);
        return out;
    }
    std::vector<std::string> list(std::string_view name) {
        std::vector<std::string> out;
        const auto* value = take(name);
        if (value == nullptr) return out;
        const auto* array = value->if_array();
        if (array == nullptr) wrong(name, "must be a list of texts");
        for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
            const auto* string = (*array)[i].if_string();
            if (string == nullptr) {
                wrong(fmt::format("{}[{}]", name, i), "must be a text");
            } else {
                out.emplace_back(json::view(*string));
            }
        }
        return out;
    }
    resource::ResourceList amounts(std::string_view name) {
        resource::ResourceList out;
        const auto* value = take(name);
        if (value == nullptr) return out;
        const auto* object = value->if_object();
        if (object == nullptr) wrong(name, "must be a mapping of resources to amounts");
        for (auto member = object == nullptr ? nullptr : object->begin(); object != nullptr && member != object->end();
             ++member) {
            const std::string key(member->key().data(), member->key().size());
            const auto amount = resource::amount_of(member->value());
            if (!amount || *amount < resource::Quantity()) {
                wrong(fmt::format("{}.{}", name, key),
                      fmt::format("{} is no amount such as 100Mi or 2k", json::serialize(member->value())));
            } else {
                out.emplace(key, *amount);
            }
        }
        return out;
    }
    const json::Value* take(std::string_view name) {
        known_.emplace(name);
        return object_ == nullptr ? nullptr : object_->if_contains({name.data(), name.size()});
    }
    void wrong(std::string_view name, std::string rule) {
        if (!error_) error_ = Error{Errc::invalid, at(name), std::move(rule)};
    }
    void pass_on(const Reader& inside) {
        if (!error_) error_ = inside.error_;
    }
    [[nodiscard]] std::string at(std::string_view name) const {
        return path_.empty() || name.empty() ? path_ + std::string(name) : fmt::format("{}.{}", path_, name);
    }
    // Last: names that nobody asked for are mistakes.
    Result<void> finish() {
        for (auto member = object_ == nullptr ? nullptr : object_->begin();
             object_ != nullptr && member != object_->end(); ++member) {
            const std::string key(member->key().data(), member->key().size());
            if (!known_.contains(key)) {
                std::vector<std::string> all(known_.begin(), known_.end());
                wrong(key, fmt::format("is not one of {}", join(all, ", ")));
            }
        }
        if (error_) return fail(*error_);
        return {};
    }

private:
    std::string path_;
    const json::Object* object_ = nullptr;
    std::set<std::string> known_;
    std::optional<Error> error_;
};

Result<json::Value> one_document(std::string_view text) {
    auto documents = json::parse_yaml(text);
    if (!documents) return fail(documents.error());
    if (documents->size() != 1) {
        return fail(Errc::invalid, fmt::format("must be one document, not {}", documents->size()));
    }
    return std::move(documents->front().value);
}

// What is secret stands in a file of its own (key: value), or in the environment; the environment wins.
void read_secret(Reader& reader, const SecretSources& sources, ProviderSettings& settings) {
    if (const auto path = reader.text("secretFile"); !path.empty()) {
        const auto content = sources.file(path);
        const auto value = content ? one_document(*content) : Result<json::Value>(fail(content.error()));
        const auto* members = value ? value->if_object() : nullptr;
        if (members == nullptr) {
            reader.wrong("secretFile", fmt::format("'{}' cannot be used: {}", path,
                                                   value ? "it must be a mapping of texts" : value.error().text()));
        }
        for (auto each = members == nullptr ? nullptr : members->begin(); members != nullptr && each != members->end();
             ++each) {
            // Others than texts are of no use as credentials, and never shown.
            if (const auto* secret = each->value().if_string()) {
                settings.secret.insert_or_assign(std::string(each->key().data(), each->key().size()),
                                                 std::string(json::view(*secret)));
            }
        }
    }
    for (const auto& [key, variable] : reader.texts("secretEnvironment")) {
        const auto value = sources.environment(variable);
        if (!value) {
            reader.wrong("secretEnvironment." + key, fmt::format("the environment has no variable '{}'", variable));
        } else {
            settings.secret.insert_or_assign(key, *value);
        }
    }
}

void read_bare_metal(Reader& reader, ProviderSettings& settings) {
    settings.proxy = reader.one_of("proxy", "Haproxy", {"Haproxy", "Nginx"});
    settings.addresses = reader.list("addresses");
    settings.http = static_cast<std::int32_t>(reader.number("http", 80, 1, 65'535));
    settings.https = static_cast<std::int32_t>(reader.number("https", 443, 1, 65'535));
    if (settings.http == settings.https) reader.wrong("https", "must differ from http");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < settings.addresses.size(); ++i) {
        const auto& address = settings.addresses[i];
        const auto field = fmt::format("addresses[{}]", i);
        if (const auto broken = resource::broken_ip_rule(address)) {
            reader.wrong(field, fmt::format("'{}' {}", address, *broken));
        }
        if (!seen.insert(address).second) reader.wrong(field, fmt::format("'{}' is there twice", address));
    }
    if (settings.addresses.empty()) reader.wrong("addresses", "a bareMetal provider needs at least one");
}

Result<ProviderSettings> read_provider(const json::Value& value, const std::string& path,
                                       const std::string& installation, const SecretSources& secrets) {
    Reader reader(value, path);
    ProviderSettings settings;
    settings.name = reader.text("name");
    if (const auto broken = resource::broken_label_rule(settings.name)) {
        reader.wrong("name", fmt::format("'{}': {}", settings.name, *broken));
    }
    settings.type = reader.one_of("type", "", {"aws", "gce", "bareMetal"});
    settings.installation = installation;
    settings.reclaim_policy = reader.one_of("reclaimPolicy", "Delete", {"Retain", "Recycle", "Delete"});
    settings.capacity = reader.amounts("capacity");
    if (settings.type == "bareMetal") {
        read_bare_metal(reader, settings);
    } else {
        settings.endpoint = reader.text("endpoint");
        settings.parameters = reader.texts("parameters");
        settings.requests_per_second = reader.number("requestsPerSecond", 5, 0.01, 10'000);
        const auto timeout = reader.text("timeout", "15s");
        const auto parsed = parse_duration(timeout);
        if (!parsed || parsed->count() <= 0) {
            reader.wrong("timeout", fmt::format("'{}' is no duration such as 15s", timeout));
        } else {
            settings.timeout = *parsed;
        }
        read_secret(reader, secrets, settings);
    }
    if (auto done = reader.finish(); !done) return fail(done.error());
    return settings;
}

}  // namespace

Result<Settings> parse_settings(std::string_view text, const SecretSources& secrets) {
    const auto value = one_document(text);
    if (!value) return fail(value.error());
    Reader reader(*value, "");
    Settings settings;
    settings.default_provider = reader.text("defaultProvider");
    const auto installation = reader.text("installation");
    if (const auto broken = resource::broken_label_rule(installation); broken && !installation.empty()) {
        reader.wrong("installation", fmt::format("'{}': {}", installation, *broken));
    }
    const auto* list = reader.take("providers");
    const auto* providers = list == nullptr ? nullptr : list->if_array();
    if (providers == nullptr) reader.wrong("providers", "must be a list of providers");
    std::set<std::string> names;
    for (std::size_t i = 0; providers != nullptr && i < providers->size(); ++i) {
        const auto path = fmt::format("providers[{}]", i);
        auto provider = read_provider((*providers)[i], path, installation, secrets);
        if (!provider) return fail(provider.error());
        if (!names.insert(provider->name).second) {
            reader.wrong(path + ".name", fmt::format("'{}' is the name of another provider", provider->name));
        }
        settings.providers.push_back(std::move(*provider));
    }
    if (!settings.default_provider.empty() && !names.contains(settings.default_provider)) {
        reader.wrong("defaultProvider", fmt::format("'{}' is not one of the providers", settings.default_provider));
    }
    const bool at_a_cloud = std::any_of(settings.providers.begin(), settings.providers.end(),
                                        [](const auto& each) { return each.type != "bareMetal"; });
    if (at_a_cloud && installation.empty()) {
        reader.wrong("installation",
                     "must say who we are: by it installations that share an account know what is whose");
    }
    if (auto done = reader.finish(); !done) return fail(done.error());
    return settings;
}

}  // namespace fairlead::balancer
