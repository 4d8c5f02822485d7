// Lists and watches over HTTP, through the one AsyncClient of the process. Used for Clusters with a server; tests of
// the follower use a link of their own.
//
// Threads: callbacks come from the client's thread; list, watch and the end of a Call from any.
#pragma once

#include <chrono>
#include <memory>

#include "cluster/link.h"
#include "net/fwd.h"

namespace fairlead::cluster {

struct HttpLinkOptions {
    std::chrono::milliseconds connect_timeout{5'000};  // TLS included
    std::chrono::milliseconds list_timeout{30'000};
    std::chrono::milliseconds watch_silence{60'000};  // the follower's own limit is shorter
    // A page of 500 objects of the 1.5 MiB that etcd takes would be more; such clusters have none near that size.
    std::size_t max_list_bytes = 64UL * 1024 * 1024;
    std::size_t max_line_bytes = 8UL * 1024 * 1024;  // an object has at most 3 MiB; its watch event fits
};

// The client outlives it.
std::unique_ptr<Link> make_http_link(net::AsyncClient& client, const Access& access,
                                     const HttpLinkOptions& options = {});

}  // namespace fairlead::cluster
