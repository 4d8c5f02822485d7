// How jemalloc is to work in our programs: part of each of them (cmake/Layer.cmake), read by the library at its start.
// What was freed goes back to the system on a thread of its own. Otherwise whoever allocates next does it, thousands of
// times for seconds after a large table was read, each some milliseconds in which an event waits.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true";
}
