#include "controller/preview_objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "controller/status_json.h"
#include "resource/kind.h"
#include "resource/meta.h"
#include "store/store.h"

namespace fairlead::controller {

namespace {

constexpr std::array<std::string_view, 4> previewed = {"Cluster", "DNSPolicy", "Gateway", "ManagedZone"};

class Builder {
public:
    Builder(store::Store& store, const resource::Kinds& kinds, const std::string& name_space, WallTime time)
        : store_(store), kinds_(kinds), name_space_(name_space), time_(time) {}

    Result<PreviewInput> build(const json::Array& objects) {
        if (objects.size() > max_preview_objects) {
            return fail(Errc::too_large, "objects",
                        fmt::format("there are {}, more than {}", objects.size(), max_preview_objects));
        }
        if (auto read = read_all(); !read) return fail(read.error());
        result_.then = result_.now;
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (auto put = put_object(fmt::format("objects[{}]", i), objects[i]); !put) return fail(put.error());
        }
        return std::move(result_);
    }

private:
    // All tables at the revision of the first.
    template <class T>
    Result<void> read(const resource::Kind& kind, std::map<std::string, T>& out) {
        const bool namespaced = kind.scope == resource::Scope::namespaced;
        auto snapshot = store_.snapshot(kind.table(), revision_);
        if (!snapshot) return fail(snapshot.error());
        revision_ = snapshot->revision();
        const auto prefix = namespaced ? name_space_ + "/" : std::string();
        snapshot->scan(prefix, prefix, [&](const store::ObjectRef& stored) {
            auto object = decoded<T>(stored);
            // What cannot be read is not there for the controllers either.
            if (object) out.emplace(object->metadata.name, std::move(*object));
            return true;
        });
        return {};
    }
    Result<void> read_all() {
        auto& now = result_.now;
        if (auto done = read(resource::gateway_kind(), now.gateways); !done) return done;
        if (auto done = read(resource::dns_policy_kind(), now.policies); !done) return done;
        if (auto done = read(resource::managed_zone_kind(), now.zones); !done) return done;
        if (auto done = read(resource::dns_record_kind(), now.records); !done) return done;
        return read(resource::cluster_kind(), now.clusters);
    }

    static tl::unexpected<Error> wrong(const std::string& at, std::string_view what, std::string_view why) {
        return fail(Errc::invalid, at, fmt::format("{}: {}", what, why));
    }

    Result<void> put_object(const std::string& at, const json::Value& given) {
        const auto kind_name = json::string_at(given, "kind");
        const auto* kind = kinds_.find_kind(json::string_at(given, "apiVersion"), kind_name);
        if (kind == nullptr || std::find(previewed.begin(), previewed.end(), kind_name) == previewed.end()) {
            return fail(Errc::invalid, at + ".kind",
                        fmt::format("\"{}\" of \"{}\" cannot be previewed: there are DNSPolicy, Gateway, Cluster and "
                                    "ManagedZone",
                                    kind_name, json::string_at(given, "apiVersion")));
        }
        auto object = complete(at, *kind, given);
        if (!object) return fail(object.error());
        auto& then = result_.then;
        if (kind_name == "Gateway") return take(at, *object, then.gateways);
        if (kind_name == "DNSPolicy") return take(at, *object, then.policies);
        if (kind_name == "ManagedZone") return take(at, *object, then.zones);
        return take(at, *object, then.clusters);
    }
    template <class T>
    Result<void> take(const std::string& at, const json::Value& object, std::map<std::string, T>& to) {
        auto value = resource::decode<T>(object);
        if (!value) return wrong(at, json::string_at(object, "kind"), value.error().text());
        to.insert_or_assign(value->metadata.name, std::move(*value));
        return {};
    }

    // As a write would store it.
    Result<json::Value> complete(const std::string& at, const resource::Kind& kind, const json::Value& given) {
        const std::string name(json::string_at(given, "metadata.name"));
        const auto what = fmt::format("{} \"{}\"", kind.name, name);
        if (name.empty()) return fail(Errc::invalid, at + ".metadata.name", "is missing");
        const bool namespaced = kind.scope == resource::Scope::namespaced;
        const auto stated = json::string_at(given, "metadata.namespace");
        if (namespaced && !stated.empty() && stated != name_space_) {
            return wrong(at, what, fmt::format("is in namespace {}, the preview in {}", stated, name_space_));
        }
        json::Value object = given;
        json::erase_at(object, "status");
        if (namespaced) json::set_at(object, "metadata.namespace", json::Value(name_space_));
        const auto stored = store_.get({kind.table(), namespaced ? name_space_ + "/" + name : name});
        if (!stored) return fail(stored.error());
        std::optional<json::Value> old;
        if (*stored) {
            auto parsed = json::parse((*stored)->value());
            if (!parsed) return fail(parsed.error());
            old = std::move(*parsed);
        }
        keep_bookkeeping(object, old);
        const auto unknown = resource::prune(object, kind.schema);
        if (!unknown.empty()) return wrong(at, what, fmt::format("unknown field \"{}\"", unknown.front()));
        resource::apply_defaults(object, kind.schema);
        resource::FieldErrors errors;
        resource::Violations violations("", errors);
        if (kind.admit) kind.admit(object, old ? &*old : nullptr, violations);
        if (errors.empty()) errors = resource::validate_metadata(object, kind);
        if (errors.empty()) errors = resource::validate(object, old ? &*old : nullptr, kind.schema);
        if (!errors.empty()) {
            return wrong(at, what, fmt::format("{}: {}", errors.front().field, errors.front().message));
        }
        return object;
    }

    // What a person does not write: age, identity and status.
    void keep_bookkeeping(json::Value& object, const std::optional<json::Value>& old) const {
        for (const auto* member :
             {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields"}) {
            const auto path = std::string("metadata.") + member;
            json::erase_at(object, path);
            const auto* kept = old ? json::find(*old, path) : nullptr;
            if (kept != nullptr) json::set_at(object, path, *kept);
        }
        if (!old) json::set_at(object, "metadata.creationTimestamp", json::Value(rfc3339(time_)));
        const auto* status = old ? json::find(*old, "status") : nullptr;
        if (status != nullptr) json::set_at(object, "status", *status);
    }

    store::Store& store_;
    const resource::Kinds& kinds_;
    const std::string& name_space_;
    const WallTime time_;
    std::optional<store::Revision> revision_;
    PreviewInput result_;
};

}  // namespace

Result<PreviewInput> preview_input(store::Store& store, const resource::Kinds& kinds, const json::Array& objects,
                                   const std::string& name_space, WallTime time) {
    return Builder(store, kinds, name_space, time).build(objects);
}

}  // namespace fairlead::controller
