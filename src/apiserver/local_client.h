// The API for controllers in the same process: control's Transport over a Rest of its own, without sockets. What a
// controller writes goes through the same validation, finalizers and conflicts as a user's request; it comes from the
// user system:fairlead-controllers, and the agent of the request owns the fields.
//
// Threads: the manager's. Calls block until the write is durable.
#pragma once

#include "apiserver/rest.h"
#include "control/client.h"

namespace fairlead::apiserver {

inline constexpr std::string_view controllers_user = "system:fairlead-controllers";

class LocalClient final : public control::Transport {
public:
    // `store` is a FencedStore where only a leader may write. As many as `at_once` of what is sent together wait for
    // the disk at the same time, each on a thread: a group of writes then takes one or two commits. 1: none has a
    // thread, and the same calls give the same writes.
    LocalClient(const resource::Kinds& kinds, store::Store& store, const Clock& clock, Random& random,
                std::size_t at_once = 1);

    Result<json::Value> send(const control::Request& request) override;
    std::vector<Result<json::Value>> send_all(std::span<const control::Request> requests) override;

private:
    Reply call(const control::Request& request);

    Rest rest_;
    std::size_t at_once_;
};

}  // namespace fairlead::apiserver
