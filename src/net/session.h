// One connection: reads requests, hands them to the handler one by one, writes the answers. Lives on one loop; answers
// and wakes come from any thread. session.cpp has the rules.
#pragma once

#include <memory>
#include <string>

#include "net/handles.h"
#include "net/loop.h"
#include "net/server_state.h"

namespace fairlead::net {

// On the loop's thread. The connection was counted with connection_opened(); the session counts it out.
void start_session(std::shared_ptr<ServerState> server, std::shared_ptr<Loop> loop, Fd socket, std::string address);

}  // namespace fairlead::net
