// One cluster's API without sockets: a store in memory and the verbs over it. Users write through it, links list and
// watch. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/rest.h"
#include "apiserver/watch.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "cluster/link.h"
#include "json/value.h"
#include "resource/kind.h"
#include "store/memory.h"

namespace fairlead::simulation {

class ClusterApi {
public:
    // `history`: how many changes it remembers for watches.
    ClusterApi(const resource::Kinds& kinds, const Clock& clock, Random& random, std::size_t history);

    // The status code. The body is JSON, a merge patch for PATCH.
    int send(std::string_view method, std::string_view path, std::string_view body = {});
    // Empty: it is not there.
    [[nodiscard]] std::string text(std::string_view path);
    [[nodiscard]] json::Value get(std::string_view path);
    // Errors as those of cluster::Link.
    Result<std::string> list(std::string_view path);
    Result<std::string> write(const cluster::Sending& sending);
    Result<std::unique_ptr<apiserver::WatchStream>> watch(std::string_view path);

    [[nodiscard]] store::Store& store() { return *store_; }

private:
    struct Parsed {
        apiserver::Target target;
        apiserver::QueryOptions options;
        apiserver::Form form;
    };
    Parsed parse(std::string_view path) const;
    apiserver::Reply call(std::string_view method, std::string_view path, std::string_view body);

    const resource::Kinds& kinds_;
    const Clock& clock_;
    std::unique_ptr<store::Store> store_;
    apiserver::Rest rest_;
};

}  // namespace fairlead::simulation
