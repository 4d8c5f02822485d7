// Diego's Receptor API over our kinds, as synchronous functions over the store (tests and the simulator drive them
// without sockets): desired LRPs are DesiredLRPs, actual LRPs are ActualLRPs, domains are Leases, all in one namespace.
// Thread-safe: state is in the store alone. Writes block until they are durable. The front (front.h) serves it by HTTP.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/receptor/answer.h"
#include "apiserver/receptor/operation.h"
#include "apiserver/rest.h"
#include "base/clock.h"
#include "net/http.h"
#include "resource/fwd.h"
#include "store/store.h"

namespace fairlead::apiserver::receptor {

class Receptor {
public:
    Receptor(std::string ns, const resource::Kinds& kinds, store::Store& store, Rest& rest, const Clock& clock);

    // Everything but events, cookies and OPTIONS, which are the front's. `headers` for Cache-Control of domains.
    Answer serve(const Operation& operation, std::string_view body, const net::Headers& headers, const Caller& caller);

    [[nodiscard]] const std::string& name_space() const { return namespace_; }
    [[nodiscard]] const resource::Kind& desired_kind() const { return desired_; }
    [[nodiscard]] const resource::Kind& actual_kind() const { return actual_; }

private:
    using Kind = resource::Kind;

    // --- desired.cpp ---
    Answer create_desired(std::string_view body, const Caller& caller);
    Answer list_desired(const Operation& operation);
    Answer get_desired(const Operation& operation);
    Answer update_desired(const std::string& guid, std::string_view body, const Caller& caller);
    Answer remove_desired(const std::string& guid, const Caller& caller);

    // --- actual.cpp ---
    Answer list_actual(const Operation& operation);
    Answer get_actual(const Operation& operation);
    Answer put_actual(const Operation& operation, std::string_view body, const Caller& caller);
    Answer remove_actual(const Operation& operation, const Caller& caller);
    Answer write_many_actual(std::string_view body, const Caller& caller);
    // Of processes, as far as they were asked for: many instances have one. Nothing: there is no such process.
    using KnownDomains = std::map<std::string, std::optional<std::string>>;
    std::optional<std::string> domain_of(const std::string& guid, KnownDomains& known) const;
    // Which record is meant. Errors: invalid, naming the field that does not say it.
    static Result<BatchWrite> place_of(const json::Object& spec);
    Result<void> complete_actual(json::Object& spec, const std::string& name, KnownDomains& known) const;
    tl::expected<BatchWrite, Answer> actual_write(json::Object spec, KnownDomains& known) const;
    tl::expected<BatchWrite, Answer> actual_item(const json::Value& sent, bool removes, KnownDomains& known) const;
    [[nodiscard]] Answer nothing_to_remove(const json::Value& sent, const std::string& name) const;

    // --- domains.cpp ---
    Answer put_domain(const std::string& domain, const net::Headers& headers, const Caller& caller);
    Answer list_domains();

    // --- receptor.cpp ---
    [[nodiscard]] Target target(const Kind& kind, std::string name) const;
    static QueryOptions query(const Caller& caller);
    // Makes the namespace if it is not there; nothing: it is there now.
    std::optional<Answer> ensure_namespace();
    // rest.create, in a namespace that is made when it is first needed.
    Reply create(const Kind& kind, const json::Value& object, const Caller& caller);
    // The object of that name if it is of that process; else empty.
    Outcome<store::ObjectRef> find(const Kind& kind, const std::string& name, std::string_view guid) const;

    std::string namespace_;
    const resource::Kinds& kinds_;
    store::Store& store_;
    Rest& rest_;
    const Clock& clock_;
    const Kind& desired_;
    const Kind& actual_;
    const Kind& leases_;
    const Kind& namespaces_;
};

}  // namespace fairlead::apiserver::receptor
