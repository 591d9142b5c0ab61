/**
 * Imported before anything else by the throw-away process, which lives for half a second: V8's optimizing compilers would take
 * two fifths of its time on code that is over before it pays. What runs ten times longer than usual is optimized all the same.
 */
import v8 from "node:v8";

v8.setFlagsFromString("--wasm-tiering-budget=20000000");
v8.setFlagsFromString("--interrupt-budget=1320000");
