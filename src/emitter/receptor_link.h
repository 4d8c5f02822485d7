// The way to a Receptor: reads and one event stream. Implemented over HTTP here, and by the simulator, which cuts it.
//
// Threads: callbacks may come from any; the end of a Call silences them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/link.h"
#include "net/fwd.h"

namespace fairlead::emitter {

struct AnswerEars {
    // The body of a 200 answer, in pieces. False: enough.
    std::function<bool(std::string_view)> bytes;
    // All has come, or enough. Errors as those of cluster::Link.
    std::function<void(Result<void>)> ended;
};

struct StreamEars {
    std::function<void()> opened;
    std::function<void(std::string_view)> bytes;
    std::function<void(Error)> ended;  // also when the server ended it in peace
};

class ReceptorLink {
public:
    virtual ~ReceptorLink() = default;
    // GET of `path`.
    virtual std::unique_ptr<cluster::Call> get(const std::string& path, AnswerEars ears) = 0;
    virtual std::unique_ptr<cluster::Call> stream(const std::string& path, const std::string& last_event_id,
                                                  StreamEars ears) = 0;
};

struct ReceptorAccess {
    std::string url;            // "https://receptor.example.net:8887", without user, password and "/" at its end
    std::string authorization;  // value of the header: "Basic ..." or "Bearer ..."; empty: none
    std::string ca_pem, certificate_pem, key_pem;
    bool insecure_skip_verify = false;
    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds answer_within{60'000};
    // 250,000 fat records, several times over; they are read in pieces, and not kept.
    std::size_t max_answer_bytes = 8UL * 1024 * 1024 * 1024;
};

// "https://user:password@host:port/" taken apart; bearer tokens come from a file. Errors: invalid, naming `flag`.
Result<ReceptorAccess> parse_receptor_url(const std::string& flag, std::string_view url);

// Lists are read on the thread of the first client, 200 MB of them at times, and the stream comes on that of the
// second: an event does not wait for them. The clients outlive it.
std::unique_ptr<ReceptorLink> make_receptor_link(net::AsyncClient& reads, net::AsyncClient& streams,
                                                 ReceptorAccess access);

}  // namespace fairlead::emitter
