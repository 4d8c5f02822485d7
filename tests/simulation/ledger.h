// What clients were told, against what happened: every answer of the API is compared with the commits that were made on
// its behalf, and every read with the truth. A write that was acknowledged must have happened exactly as answered, one
// that was refused must not have, and one without an answer may be either. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request_info.h"
#include "apiserver/rest.h"
#include "simulation/journal.h"
#include "simulation/truth.h"

namespace fairlead::simulation {

struct Request {
    apiserver::Verb verb = apiserver::Verb::get;
    apiserver::Target target;
    apiserver::QueryOptions options;
    std::string body, content_type = "application/json";

    [[nodiscard]] std::string text() const;
};

class Ledger {
public:
    Ledger(Journal& journal, const std::unique_ptr<class SimStore>& store) : journal_(journal), store_(store) {}

    void begin(std::uint64_t request) { effects_[request]; }
    // A commit changed something on behalf of a client's request.
    void changed(std::uint64_t request, const Key& key, const Change& change);
    // `reply` null: no answer came.
    void answered(std::uint64_t request, const Request& sent, const apiserver::Reply* reply, std::string_view who);
    // At the end: everything acknowledged is there, or something later is.
    void check_all();

    [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
    [[nodiscard]] std::uint64_t unknown() const { return unknown_; }

private:
    struct Effect {
        Key key;
        const Change* change;
    };
    void check_read(const Request& sent, const apiserver::Reply& reply, std::string_view who);
    void check_write(const Request& sent, const apiserver::Reply& reply, const std::vector<Effect>& effects,
                     std::string_view who);
    void acknowledge(const Key& key, Revision revision);
    void wrong(std::string what) { journal_.violate(Invariant::writes_kept, std::move(what)); }

    Journal& journal_;
    const std::unique_ptr<SimStore>& store_;
    std::map<std::uint64_t, std::vector<Effect>> effects_;  // of requests under way
    std::map<Key, Revision> acknowledged_at_;               // the newest, by key
    std::uint64_t acknowledged_ = 0, unknown_ = 0;
};

}  // namespace fairlead::simulation
